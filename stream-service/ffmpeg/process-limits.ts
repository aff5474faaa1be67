import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ownTurn } from '../../core/concurrency/index.ts';
import { memoryShares } from '../../core/config/index.ts';
import { NO_SANDBOX, type Sandbox, type SandboxedCommand, sandboxesFor } from './sandbox.ts';

/** Paths of a program of util-linux. */
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

const START_TIMEOUT_MS = 10_000;

let limits: readonly string[] | undefined;

/** By path: the strictest sandbox, or the strictest in which the program has been seen to start. */
const commands = new Map<string, SandboxedCommand>();
const checks = new Map<string, Promise<void>>();

/**
 * The command that runs a program in a sandbox and under limits of the operating system: memory, processor time, open
 * files, no files written, no core dumps. The program alone where the system has none of it, and where its path is not
 * absolute.
 *
 * The number of processes is not limited: the kernel counts those of the whole user. The filter of system calls permits one.
 */
export function withProcessLimits(path: string): SandboxedCommand {
  const command = commands.get(path) ?? commandsFor(path).find((candidate) => candidate !== undefined);
  if (!command) return { command: [path], stdin: 'ignore', sandbox: NO_SANDBOX };
  commands.set(path, command);
  return command;
}

/**
 * Finds the strictest sandbox in which a program starts, once. One with libraries of its own, and one that starts others (a
 * script) or confines itself (a snap), may start in less than this system has.
 */
export async function checkSandbox(path: string): Promise<Sandbox> {
  const check = checks.get(path) ?? findSandbox(path);
  checks.set(path, check);
  await check;
  return withProcessLimits(path).sandbox;
}

async function findSandbox(path: string): Promise<void> {
  for (const candidate of commandsFor(path)) {
    // Trying one out occupies the event loop for some 30 ms.
    await ownTurn();
    if (!candidate || !(await starts(candidate))) continue;
    commands.set(path, candidate);
    return;
  }
}

async function starts({ command: [program = '', ...args], stdin }: SandboxedCommand): Promise<boolean> {
  const child = spawn(program, [...args, '-version'], {
    ...{ env: {}, timeout: START_TIMEOUT_MS, killSignal: 'SIGKILL' },
    stdio: [stdin, 'ignore', 'ignore'],
  });
  try {
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false; // it is not a program
  }
}

function* commandsFor(path: string): Generator<SandboxedCommand | undefined, undefined> {
  if (!isAbsolute(path) || !existsSync(path)) return;
  limits ??= findLimits();
  yield undefined;
  const [limiter = path] = limits;
  for (const sandboxed of sandboxesFor([path, limiter]))
    yield sandboxed && { ...sandboxed, command: [...sandboxed.command, ...limits, path] };
}

/** Empty when `prlimit` is missing, or is not allowed to set these limits here. */
function findLimits(): readonly string[] {
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
