import { existsSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETPRIV, setprivCommand, syscallFilter } from '../../core/tools/index.ts';

/** What the system withholds from a process. */
export interface Sandbox {
  /** Files, except for the libraries of the system (Landlock). */
  readonly files: boolean;
  /** Other processes, and sockets but those of TCP (seccomp). */
  readonly syscalls: boolean;
  /** The privileges of set-user-ID programs. */
  readonly privileges: boolean;
}

/** How a process is started in a sandbox. */
export interface SandboxedCommand {
  readonly sandbox: Sandbox;
  /** The beginning of the command line. */
  readonly command: readonly string[];
  /** Its standard input: the filter of system calls, which `setpriv` reads, or none. */
  readonly stdin: number | 'ignore';
}

export const NO_SANDBOX: Sandbox = { files: false, syscalls: false, privileges: false };
/** The strictest first. In the last one every program starts. */
const SANDBOXES: readonly Sandbox[] = [
  { files: true, syscalls: true, privileges: true },
  { files: false, syscalls: true, privileges: true },
  { files: true, syscalls: false, privileges: true },
  { files: false, syscalls: false, privileges: true },
  NO_SANDBOX,
];
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/local/lib', '/nix/store', '/gnu/store'];
/** The cache of the dynamic loader; random numbers, of which FFmpeg makes its own slowly where it cannot read any. */
const FILES = ['/etc/ld.so.cache', '/dev/null', '/dev/urandom'];
/** Its standard input, which each process opens again from the start. */
const FILTER_PATH = '/proc/self/fd/0';

let filter: number | 'ignore' | undefined;

/**
 * The sandboxes that this system has for a program, the strictest first. All of it needs `setpriv` of util-linux 2.41 or
 * newer and a kernel with Landlock. In each but the last, the program is killed when this process ends. Undefined in place
 * of one that it does not have: each is tried out, for which this process waits.
 * @param programs absolute paths of all that the process executes
 */
export function* sandboxesFor(programs: readonly string[]): Generator<SandboxedCommand | undefined, undefined> {
  filter ??= openFilter();
  for (const sandbox of SANDBOXES) {
    const stdin = sandbox.syscalls ? filter : 'ignore';
    if (sandbox.syscalls && stdin === 'ignore') continue;
    const command = sandbox.privileges ? setprivCommand(optionsOf(sandbox, programs), stdin) : [];
    yield command && { sandbox, command, stdin };
  }
}

const optionsOf = ({ files, syscalls }: Sandbox, programs: readonly string[]): string[] => [
  ...(files ? ['--landlock-access', 'fs', ...rulesFor(programs)] : []),
  ...(syscalls ? ['--seccomp-filter', FILTER_PATH] : []),
];

const rulesFor = (programs: readonly string[]): string[] => [
  ...LIBRARIES.flatMap((dir) => ruleFor(dir, 'execute,read-file,read-dir')),
  // setpriv executes itself to try the options out.
  ...[...programs, SETPRIV ?? ''].flatMap((program) => ruleFor(program, 'execute,read-file')),
  ...FILES.flatMap((file) => ruleFor(file, 'read-file')),
];

const ruleFor = (path: string, access: string): string[] =>
  existsSync(path) ? ['--landlock-rule', `path-beneath:${access}:${realpathSync(path)}`] : [];

/** A descriptor of a file with the filter, which is removed at once. */
function openFilter(): number | 'ignore' {
  const content = process.platform === 'linux' ? syscallFilter('ffmpeg', process.arch) : undefined;
  if (!content) return 'ignore';
  try {
    const dir = mkdtempSync(join(tmpdir(), 'reelay-filter-'));
    try {
      const file = join(dir, 'filter');
      writeFileSync(file, content);
      return openSync(file, 'r');
    } finally {
      rmSync(dir, { recursive: true });
    }
  } catch {
    return 'ignore'; // there is no space, or no writable folder
  }
}
