import { endWithParent } from '../process/index.ts';

export interface CommandLimits {
  /** Address space of the program. */
  readonly memoryBytes: number;
  /** Processor time. */
  readonly cpuSeconds: number;
}

/** As in `_reelay_limits.py`. The JavaScript runtime reserves far more address space than it uses. */
const CHILD_BYTES = 8 * 2 ** 30;
const MAX_OPEN_FILES = 256;
const MAX_FILE_BYTES = 64 * 2 ** 20;

/**
 * Sets the limits of the operating system and becomes the program. Units are those of POSIX `ulimit`: KiB, blocks of 512
 * bytes, seconds. The soft limit on address space is the program's, the hard one that of its JavaScript runtime. A limit
 * that the system does not know, or that is lower already, stays as it is.
 */
const SCRIPT = `
ulimit -S -v "$1"; ulimit -H -v "$2"; ulimit -t "$3"; ulimit -n "$4"; ulimit -f "$5"; ulimit -c 0
shift 5
exec "$@"`;

/** The command line that runs `command` within limits, and ends it when this process ends. */
export function limitedCommand(
  command: readonly string[],
  { memoryBytes, cpuSeconds }: CommandLimits,
): [string, ...string[]] {
  const limits = [
    ...[Math.ceil(memoryBytes / 1024), Math.ceil(Math.max(memoryBytes, CHILD_BYTES) / 1024)],
    ...[Math.ceil(cpuSeconds), MAX_OPEN_FILES, MAX_FILE_BYTES / 512],
  ];
  const shell = ['/bin/sh', '-c', SCRIPT, 'yt-dlp', ...limits.map(String), ...command];
  const [program = '/bin/sh', ...rest] = [...endWithParent(), ...shell];
  return [program, ...rest];
}

/** A program that starts Node with the hard limit on address space: Node does not start within that of yt-dlp. */
export const runtimeScript = (nodePath: string): string =>
  `#!/bin/sh\nulimit -S -v "$(ulimit -H -v)"\nexec '${nodePath.replaceAll("'", `'\\''`)}' "$@"\n`;
