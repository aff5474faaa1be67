import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ConfinedProgram, syscallFilter } from './syscall-filter.ts';

/** What confines a process on Linux. */
export interface Sandbox {
  /** Version of the interface of Landlock: 0 without it. */
  readonly landlock: number;
  /** Whether system calls are filtered. */
  readonly seccomp: boolean;
  /** Whether Landlock keeps it from files: not from a program with libraries of its own. @default true */
  readonly hasFiles?: boolean;
}

/** Rights of linux/landlock.h. The launchers leave out of them what a kernel does not know, and for files what only folders have. */
const READ = (1 << 2) | (1 << 3);
const EXECUTE = READ | (1 << 0);
/** Also write_file, remove_dir, remove_file, make_dir, make_reg, make_sym, truncate. No devices, sockets and named pipes. */
export const CHANGE = READ | (1 << 1) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 12) | (1 << 14);

const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store', '/gnu/store'];

/** The files of the system that each program may read. `syscall-filter.ts` has its system calls. */
const READABLE: Readonly<Record<ConfinedProgram, readonly string[]>> = {
  // The cache of the dynamic loader; random numbers, of which FFmpeg makes its own slowly where it cannot read any.
  ffmpeg: ['/etc/ld.so.cache', '/dev/null', '/dev/urandom'],
  // Certificates and time zones, and what describes the system to Python, curl and Node.
  'yt-dlp': [
    ...['/usr/share', '/etc/ssl', '/etc/pki', '/etc/ca-certificates', '/etc/crypto-policies', '/etc/ld.so.cache'],
    ...['/etc/localtime', '/etc/mime.types', '/etc/hosts', '/etc/host.conf', '/etc/nsswitch.conf', '/etc/resolv.conf'],
    ...['/etc/gai.conf', '/dev/urandom', '/dev/random', '/dev/zero', '/proc/self', '/proc/meminfo', '/proc/cpuinfo'],
    ...['/proc/stat', '/sys/devices/system/cpu', '/sys/fs/cgroup'],
  ],
};

/** How many rights to files each version of the interface of Landlock knows. */
const FILE_RIGHTS = [0, 13, 14, 15, 15, 16, 16];
/** Versions that restrict ports of TCP, and signals and abstract sockets of other processes. */
const WITH_PORTS = 4;
const WITH_SCOPES = 6;

/** What a process is confined to. Each launcher leaves out what the kernel lacks. */
interface Confinement {
  /** A mask of those that are kept. */
  readonly capabilities: number;
  /** By version of the interface of Landlock: `struct landlock_ruleset_attr` in hex, what is denied unless a rule permits it. */
  readonly rulesets: readonly string[];
  /** Without any, all files are permitted. */
  readonly paths: readonly (readonly [rights: number, path: string])[];
  /** A filter of system calls in hex; empty for a processor without a table. */
  readonly filter: string;
}

/** The files of one start of a program. */
interface OwnFiles {
  /** Its programs, and folders of their libraries. */
  readonly executable: readonly string[];
  readonly readable?: readonly string[];
  /** What it has to reach, as root, by folders that may be for another user alone. */
  readonly reachable: readonly string[];
}

/**
 * What a program may do. Two launchers carry it out, because neither can replace the other: a fork of yt-dlp keeps the memory of
 * the worker, so it confines itself (`_reelay_sandbox.py`); FFmpeg is started by a program that starts ten times as fast as
 * Python, which not every system with FFmpeg has (`launchCommand`).
 */
export function confine(program: ConfinedProgram, { executable, readable = [], reachable }: OwnFiles): Confinement {
  const allow = (rights: number, paths: readonly string[]) => paths.map((path) => [rights, path] as const);
  return {
    capabilities: neededCapabilities(reachable),
    rulesets: FILE_RIGHTS.map((count, version) => {
      const denied = [2 ** count - 1, version < WITH_PORTS ? 0 : 3, version < WITH_SCOPES ? 0 : 3];
      return Buffer.from(BigUint64Array.from(denied, BigInt).buffer).toString('hex');
    }),
    paths: [...allow(EXECUTE, [...LIBRARIES, ...executable]), ...allow(READ, [...READABLE[program], ...readable])],
    filter: syscallFilter(program, process.arch)?.toString('hex') ?? '',
  };
}

/** CAP_DAC_READ_SEARCH of linux/capability.h, as a mask. */
const READ_SEARCH = 1 << 2;

/**
 * The capabilities without which root cannot read these files, as a mask: one where a folder is for another user alone, such as
 * the home folder of who has installed the service. Landlock still restricts what is read.
 */
const neededCapabilities = (files: readonly string[]): number =>
  process.geteuid?.() === 0 && files.some((file) => isClosed(dirname(file))) ? READ_SEARCH : 0;

function isClosed(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats && (stats.mode & (stats.uid === 0 ? 0o100 : 0o001)) === 0) return true;
  return folder !== dirname(folder) && isClosed(dirname(folder));
}

/** In the base system of Debian and Ubuntu. It starts in 1 ms, Python in 10. */
const PERL = ['/usr/bin/perl', '/bin/perl'].find((path) => process.platform === 'linux' && existsSync(path));

/** Numbers of system calls. */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, Readonly<Record<string, number>>>>> = {
  x64: { prctl: 157, prlimit: 302, capset: 126 },
  arm64: { prctl: 167, prlimit: 261, capset: 91 },
};

/**
 * Limits and confines itself, and becomes the program behind `--`; without one, it prints the version of Landlock. It fails
 * where the kernel refuses a part. Its options are NAME=VALUE: numbers of system calls, the fields of `Confinement`, and
 *
 * limits=KIND,VALUE   setrlimit(2)
 * ports=PORT          of TCP, where Landlock has ports (4); without any, none
 */
const LAUNCHER = `
my %all;
while (defined(my $option = shift)) {
  last if $option eq '--';
  my ($name, $value) = split /=/, $option, 2;
  push @{$all{$name}}, $value;
}
sub call {
  my ($name, $result) = (shift, shift);
  $result >= 0 or die "$name: $!\\n";
  return $result;
}
my ($DEATH_SIGNAL, $NO_NEW_PRIVILEGES, $SECCOMP, $DROP) = (1, 38, 22, 24);
my ($prctl, $prlimit, $capset, $kept) = map { $all{$_}[0] + 0 } qw(prctl prlimit capset capabilities);
call('PR_SET_PDEATHSIG', syscall($prctl, $DEATH_SIGNAL, 9, 0, 0, 0));
call('PR_SET_NO_NEW_PRIVS', syscall($prctl, $NO_NEW_PRIVILEGES, 1, 0, 0, 0));
for my $each (0 .. 63) {
  $kept >> $each & 1 or syscall($prctl, $DROP, $each, 0, 0, 0) == 0 or last;
}
my ($header, $held) = (pack('LL', 0x20080522, 0), pack 'L6', $kept, $kept, (0) x 4);
my $result = syscall $capset, $header, $held;
call('capset', $result) if $> == 0;
for (@{$all{limits}}) {
  my ($kind, $value) = map { $_ + 0 } split /,/;
  my $before = pack 'QQ', 0, 0;
  call('prlimit', syscall($prlimit, 0, $kind, 0, $before));
  my $hard = (unpack 'QQ', $before)[1];
  my $lower = pack 'QQ', ($value < $hard ? $value : $hard) x 2;
  call('prlimit', syscall($prlimit, 0, $kind, $lower, 0));
}
my ($CREATE, $ADD, $RESTRICT) = (444, 445, 446);
my ($OF_FILES, $CONNECT) = (0xc007, 2);
my $version = syscall $CREATE, 0, 0, 1;
$version = 0 if $version < 0;
my @rulesets = @{$all{rulesets}};
my ($files, $net, $scopes) = unpack 'Q3', pack 'H*', $rulesets[$version < @rulesets ? $version : -1];
$files = 0 if !@{$all{paths}};
if ($files || $net) {
  my $rules = call('landlock_create_ruleset', syscall($CREATE, pack('Q3', $files, $net, $scopes), 24, 0));
  for (@{$all{paths}}) {
    my ($rights, $path) = split /,/, $_, 2;
    sysopen(my $file, $path, 0x280000) or next;
    my $rule = pack 'Ql', $rights & $files & (-d $path ? ~0 : $OF_FILES), fileno $file;
    call($path, syscall($ADD, $rules, 1, $rule, 0));
  }
  for ($net ? @{$all{ports}} : ()) {
    my $rule = pack 'QQ', $CONNECT, $_;
    call('landlock_add_rule', syscall($ADD, $rules, 2, $rule, 0));
  }
  call('landlock_restrict_self', syscall($RESTRICT, $rules, 0));
}
if (my $filter = pack 'H*', $all{filter}[0]) {
  my $program = pack 'Sx!8P', length($filter) / 8, $filter;
  call('seccomp', syscall($prctl, $SECCOMP, 2, $program, 0, 0));
}
if (@ARGV) { exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n" }
print $version;
`;

/**
 * The beginning of a command line that confines and limits a program: ports and `--` follow. The program is killed when this
 * process ends, and gains no privileges.
 * @returns undefined where this system has no launcher
 */
export function launchCommand(options: Confinement & { readonly limits: readonly string[] }): string[] | undefined {
  const numbers = NUMBERS[process.arch];
  if (!PERL || !numbers) return undefined;
  const fields = Object.entries({ ...numbers, ...options });
  const args = fields.flatMap(([name, values]) => [values].flat().map((value) => `${name}=${value}`));
  return [PERL, '-e', LAUNCHER, '--', ...args];
}

/** What this system cannot withhold from a program. @param sandbox undefined where nothing confines it */
export function missingFrom(program: string, sandbox: Sandbox | undefined, platform = process.platform): string[] {
  if (platform !== 'linux') return [`${program} runs without a sandbox: only Linux has one`];
  if (!sandbox) return [`${program} runs without a sandbox: there is no Perl, or it does not start in one`];
  const { landlock, seccomp, hasFiles = true } = sandbox;
  if (landlock === 0 && !seccomp)
    return [`${program} runs without a sandbox: the kernel has neither Landlock nor seccomp`];
  return [
    ...(landlock === 0 || !hasFiles
      ? [`${program} can read files of this user: needs Landlock (Linux 5.13), and no libraries of its own`]
      : []),
    ...(landlock < WITH_PORTS ? [`${program} can connect past the egress guard: needs Linux 6.7`] : []),
    ...(landlock < WITH_SCOPES && !seccomp ? [`${program} can signal processes of this user: needs Linux 6.12`] : []),
    ...(seccomp ? [] : [`system calls of ${program} are not filtered`]),
  ];
}
