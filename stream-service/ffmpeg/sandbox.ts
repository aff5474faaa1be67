import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ownTurn } from '@reelay/concurrency';
import { missingFrom, neededCapabilities, type Sandbox, syscallFilter } from '@reelay/yt-dlp-worker';
import { memoryShares } from '../../core/config/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';

/** In the base system of Debian and Ubuntu. It starts in 1 ms, Python in 10. */
const PERL = ['/usr/bin/perl', '/bin/perl'].find((path) => process.platform === 'linux' && existsSync(path));
/**
 * Limits and confines itself, and becomes the program behind `--`; without one, it prints the version of Landlock. It fails
 * where a part that an option asks for is missing.
 *
 * prctl=NUMBER prlimit=NUMBER capset=NUMBER   of these system calls
 * capabilities=MASK             those that are kept
 * limit=KIND,VALUE              setrlimit(2)
 * path=RIGHTS,PATH              what may be read and executed; without any, all of it
 * port=PORT                     of TCP, where Landlock has ports (4); without any, none
 * filter=HEX                    seccomp(2)
 */
const LAUNCHER = `
my (%number, @limits, @paths, @ports, $filter);
while (defined(my $option = shift)) {
  last if $option eq '--';
  my ($name, $value) = split /=/, $option, 2;
  if ($name eq 'limit') { push @limits, $value }
  elsif ($name eq 'path') { push @paths, $value }
  elsif ($name eq 'port') { push @ports, $value }
  elsif ($name eq 'filter') { $filter = pack 'H*', $value }
  else { $number{$name} = $value + 0 }
}
sub call {
  my ($name, $result) = (shift, shift);
  $result >= 0 or die "$name: $!\\n";
  return $result;
}
my ($DEATH_SIGNAL, $NO_NEW_PRIVILEGES, $SECCOMP, $DROP) = (1, 38, 22, 24);
call('PR_SET_PDEATHSIG', syscall($number{prctl}, $DEATH_SIGNAL, 9, 0, 0, 0));
call('PR_SET_NO_NEW_PRIVS', syscall($number{prctl}, $NO_NEW_PRIVILEGES, 1, 0, 0, 0));
my $kept = $number{capabilities};
for my $each (0 .. 63) {
  $kept >> $each & 1 or syscall($number{prctl}, $DROP, $each, 0, 0, 0) == 0 or last;
}
my ($header, $held) = (pack('LL', 0x20080522, 0), pack 'L6', $kept, $kept, (0) x 4);
my $result = syscall $number{capset}, $header, $held;
call('capset', $result) if $> == 0;
for (@limits) {
  my ($kind, $value) = map { $_ + 0 } split /,/;
  my $before = pack 'QQ', 0, 0;
  call('prlimit', syscall($number{prlimit}, 0, $kind, 0, $before));
  my $hard = (unpack 'QQ', $before)[1];
  my $lower = pack 'QQ', ($value < $hard ? $value : $hard) x 2;
  call('prlimit', syscall($number{prlimit}, 0, $kind, $lower, 0));
}
my ($CREATE, $ADD, $RESTRICT) = (444, 445, 446);
my ($OF_FILES, $CONNECT, $TCP, $SCOPES) = (0xc007, 2, 3, 3);
my $version = syscall $CREATE, 0, 0, 1;
$version = 0 if $version < 0;
die "Landlock is missing\\n" if @paths && !$version;
if ($version) {
  my $known = (1 << (12 + ($version > 4 ? 4 : $version > 3 ? 3 : $version))) - 1;
  my $handled = pack 'QQQ', @paths ? $known : 0, $version > 3 ? $TCP : 0, $version > 5 ? $SCOPES : 0;
  if ($handled =~ /[^\\0]/) {
    my $rules = call('landlock_create_ruleset', syscall($CREATE, $handled, 24, 0));
    for (@paths) {
      my ($rights, $path) = split /,/, $_, 2;
      sysopen(my $file, $path, 0x280000) or next;
      my $rule = pack 'Ql', -d $path ? $rights : $rights & $OF_FILES, fileno $file;
      call($path, syscall($ADD, $rules, 1, $rule, 0));
    }
    for ($version > 3 ? @ports : ()) {
      my $rule = pack 'QQ', $CONNECT, $_;
      call('landlock_add_rule', syscall($ADD, $rules, 2, $rule, 0));
    }
    call('landlock_restrict_self', syscall($RESTRICT, $rules, 0));
  }
}
if (defined $filter) {
  my $program = pack 'Sx!8P', length($filter) / 8, $filter;
  call('seccomp', syscall($number{prctl}, $SECCOMP, 2, $program, 0, 0));
}
if (@ARGV) { exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n" }
print $version;
`;

/** Numbers of system calls. */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, readonly string[]>>> = {
  x64: ['prctl=157', 'prlimit=302', 'capset=126'],
  arm64: ['prctl=167', 'prlimit=261', 'capset=91'],
};
/** Rights of linux/landlock.h. */
const READ_FILE = 1 << 2;
const EXECUTE = (1 << 0) | READ_FILE | (1 << 3);
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store', '/gnu/store'];
/** The cache of the dynamic loader; random numbers, of which FFmpeg makes its own slowly where it cannot read any. */
const FILES = ['/etc/ld.so.cache', '/dev/null', '/dev/urandom'];

const MAX_OPEN_FILES = 256;
/** Processor time of one process: it converts days of audio. */
const MAX_CPU_SECONDS = 24 * 3600;
/** RLIMIT_CPU, FSIZE, CORE, NOFILE and DATA of Linux. */
const limitOptions = (): string[] =>
  [...[`0,${MAX_CPU_SECONDS}`, '1,0', '4,0', `7,${MAX_OPEN_FILES}`], `2,${Math.floor(memoryShares().ffmpegBytes)}`].map(
    (limit) => `limit=${limit}`,
  );

/** A program and how it is started. */
interface Launch {
  /** Absent where nothing confines it. */
  readonly sandbox?: Sandbox;
  /** The beginning of the command line: ports and `--` follow. Empty where nothing confines it. */
  readonly launcher: readonly string[];
}

const START_TIMEOUT_MS = 10_000;
/** Errors that say nothing of the program. */
const WITHOUT_RESOURCES = new Set(['ENOMEM', 'EAGAIN', 'EMFILE', 'ENFILE']);

/** By path: the strictest sandbox of this system, or the strictest in which the program has been seen to start. */
const launches = new Map<string, Launch>();
const checks = new Map<string, Promise<void>>();

/**
 * The command that runs a program in a sandbox and under limits of the operating system: memory, processor time, open
 * files, no files written, no core dumps, no capabilities. It is killed when this process ends, and gains no privileges. The program
 * alone where the system has none of it, and where its path is not absolute.
 *
 * The number of processes is not limited: the kernel counts those of the whole user. The filter of system calls permits one.
 * @param ports of TCP that it may connect to, where the kernel restricts them
 */
export function sandboxCommand(path: string, ports: readonly number[] = []): readonly string[] {
  const launch = launches.get(path) ?? launchesOf(path).next().value;
  if (!launch || launch.launcher.length === 0) return [path];
  launches.set(path, launch);
  return [...launch.launcher, ...ports.map((port) => `port=${port}`), '--', path];
}

/**
 * Finds the strictest sandbox in which a program starts, once, and logs what it lacks. One with libraries of its own, and one
 * that starts others (a script) or confines itself (a snap), may start in less than this system has.
 * @throws UpstreamError where this system cannot start any process now
 */
export async function checkSandbox(path: string, log?: Pick<Log, 'warn'>): Promise<Sandbox | undefined> {
  const check = checks.get(path) ?? findSandbox(path, log);
  checks.set(path, check);
  await check.catch((cause) => {
    // Nothing is known yet: the next one checks again.
    checks.delete(path);
    launches.delete(path);
    throw new UpstreamError('FFmpeg could not be started', { cause, reason: 'service-failed' });
  });
  return launches.get(path)?.sandbox;
}

async function findSandbox(path: string, log?: Pick<Log, 'warn'>): Promise<void> {
  for (const launch of launchesOf(path)) {
    await ownTurn();
    launches.set(path, launch);
    if (await starts(sandboxCommand(path))) break;
  }
  const missing = missingFrom('FFmpeg', launches.get(path)?.sandbox);
  if (missing.length > 0) log?.warn(missing.join('; '));
}

async function starts([program = '', ...args]: readonly string[]): Promise<boolean> {
  const limits = { timeout: START_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  try {
    const [code] = await once(spawn(program, [...args, '-version'], { env: {}, stdio: 'ignore', ...limits }), 'exit');
    return code === 0;
  } catch (error) {
    if (WITHOUT_RESOURCES.has(String((error as NodeJS.ErrnoException).code))) throw error;
    return false; // it is not a program
  }
}

/** What this system has for a program, the strictest first. Each is tried out, for which this process waits some milliseconds. */
function* launchesOf(path: string): Generator<Launch, undefined> {
  const numbers = NUMBERS[process.arch];
  if (PERL && numbers && isAbsolute(path) && existsSync(path)) {
    const program = realpathSync(path);
    const kept = `capabilities=${neededCapabilities([path, program])}`;
    const common = [PERL, '-e', LAUNCHER, '--', ...numbers, kept, ...limitOptions()];
    const filter = `filter=${syscallFilter('ffmpeg', process.arch)?.toString('hex')}`;
    const paths = [
      ...[...LIBRARIES, program].map((readable) => `path=${EXECUTE},${readable}`),
      ...FILES.map((file) => `path=${READ_FILE},${file}`),
    ];
    for (const parts of [[...paths, filter], [filter], paths, []]) {
      const launcher = [...common, ...parts];
      const { status, stdout } = spawnSync(PERL, launcher.slice(1), { env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
      if (status !== 0) continue;
      const hasFiles = parts.includes(paths[0] ?? '');
      yield { launcher, sandbox: { landlock: Number(stdout), seccomp: parts.includes(filter), hasFiles } };
    }
  }
  yield { launcher: [] };
}
