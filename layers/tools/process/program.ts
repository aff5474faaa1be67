import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface RunOptions {
  /** All that the program knows of its surroundings. @default nothing */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Milliseconds until it is killed. @default 30_000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of either output. */
const MAX_OUTPUT = 2 ** 24;
const LAST_WORDS = 200;

/**
 * Runs a program to its end and gives what it printed.
 * @throws Error in one line with its last words, when it fails or takes too long
 */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const { env = {}, cwd, timeoutMs: timeout = 30_000, signal } = options;
  try {
    const limits = { timeout, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT, encoding: 'buffer' } as const;
    const { stdout } = await execute(program, args, { env, ...limits, ...(cwd && { cwd }), ...(signal && { signal }) });
    return stdout;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(reasonOf(error), { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const { stderr, killed, message } = error as Error & { stderr?: Buffer; killed?: boolean };
  if (killed) return 'it took too long';
  const lines = stderr?.toString().trim().split('\n') ?? [];
  return (
    (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? message).trim().slice(0, LAST_WORDS) || message
  );
}

/** Where a program stands on the search path of this process, links followed; absent when it is not there. */
export async function findOnPath(name: string, searchPath = process.env.PATH ?? ''): Promise<string | undefined> {
  for (const dir of searchPath.split(delimiter).filter(isAbsolute)) {
    const path = join(dir, name);
    if (await isExecutable(path)) return realpath(path);
  }
  return undefined;
}

/** Whether there is a program that this process may run. */
export const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // not there, or not ours to run: the search goes on
  }
};
