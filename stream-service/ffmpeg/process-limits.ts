import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { memoryShares } from '../../core/config/index.ts';
import { endWithParent } from '../../layers/tools/index.ts';

/** Of util-linux. */
const PRLIMIT = ['/usr/bin/prlimit', '/bin/prlimit'];
const MAX_OPEN_FILES = 256;
/** Processor time of one process: it converts days of audio. */
const MAX_CPU_SECONDS = 24 * 3600;
/**
 * The largest single allocation: above a plane of 7680 × 4320 at 10 bits. Decoders refuse larger frames before they
 * decode them.
 */
const MAX_ALLOCATION_BYTES = 128 * 1024 * 1024;

/**
 * Pixels of a picture: 8192 × 4352, the coded size of the largest video there is. The limit on allocations passes a square
 * picture of 67 million pixels, of which a decoder takes 350 MB to find out what a segment contains.
 */
const MAX_PIXELS = 8192 * 4352;

/** Options of FFmpeg itself, which limit it on every system. */
export const LIMIT_OPTIONS: readonly string[] = ['-max_alloc', String(MAX_ALLOCATION_BYTES)];
/** The same for one input, to be placed before its `-i`. */
export const INPUT_LIMIT_OPTIONS: readonly string[] = ['-max_pixels', String(MAX_PIXELS)];

let wrapper: readonly string[] | undefined;

/**
 * The command that runs a program under limits of the operating system: memory, processor time, open files, no files
 * written, no core dumps. It ends with this process. The program itself where there is no `prlimit`, and where its path is
 * not absolute.
 *
 * The number of processes is not limited: the kernel counts those of the whole user.
 */
export function withProcessLimits(path: string): readonly [command: string, ...args: string[]] {
  if (!isAbsolute(path) || !existsSync(path)) return [path];
  wrapper ??= findWrapper();
  const [command = path, ...args] = [...endWithParent(), ...wrapper, path];
  return [command, ...args];
}

/** Empty when `prlimit` is missing, or is not allowed to set these limits here. */
function findWrapper(): readonly string[] {
  const program = PRLIMIT.find((candidate) => existsSync(candidate));
  if (!program) return [];
  const flags = [
    `--data=${memoryShares().ffmpegBytes}`,
    `--cpu=${MAX_CPU_SECONDS}`,
    `--nofile=${MAX_OPEN_FILES}`,
    '--fsize=0',
    '--core=0',
  ];
  const { status } = spawnSync(program, [...flags, '--', program, '--version'], { env: {}, stdio: 'ignore' });
  return status === 0 ? [program, ...flags, '--'] : [];
}
