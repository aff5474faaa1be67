import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { killWhenStopped } from './process-end.ts';

const execute = promisify(execFile);

export interface RunOptions {
  /** The complete environment of the program. @default empty */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** After this it is killed. @default 30_000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with each part of its stdout as it arrives. */
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Stdout and stderr may have this much each. */
const MAX_OUTPUT_BYTES = 2 ** 24;
const MAX_REASON_LENGTH = 200;
/** Runs of a program that is killed from outside: by the system when memory is short, or by an operator. */
const MAX_RUNS = 3;

/**
 * Runs a program and returns its stdout. A program that is killed from outside is run again.
 * @throws Error with the last error line of stderr, when the program fails or times out
 */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  for (let runs = 1; ; runs++) {
    try {
      return await runOnce(program, args, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isKilledFromOutside(error) || runs === MAX_RUNS) throw new Error(reasonOf(error), { cause: error });
    }
  }
}

async function runOnce(
  program: string,
  args: readonly string[],
  { env = {}, cwd, timeoutMs = 30_000, signal, onOutput }: RunOptions,
): Promise<Buffer> {
  const limits = {
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: 'buffer',
  } as const;
  const running = execute(program, args, { env, ...limits, cwd, signal });
  killWhenStopped(running.child);
  if (onOutput) running.child.stdout?.on('data', (chunk: Buffer) => onOutput(chunk.toString()));
  return (await running).stdout;
}

/** `killed` says that it was killed because of its limits. */
function isKilledFromOutside(error: unknown): boolean {
  const { killed, signal } = error as { killed?: boolean; signal?: string | null };
  return signal === 'SIGKILL' && !killed;
}

function reasonOf(error: unknown): string {
  const { stderr, killed, message } = error as Error & { stderr?: Buffer; killed?: boolean };
  if (killed) return 'it took too long';
  const lines = stderr?.toString().trim().split('\n') ?? [];
  return (
    (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? message).trim().slice(0, MAX_REASON_LENGTH) ||
    message
  );
}

/** The path of a program on PATH, symbolic links resolved; undefined when it is not found. */
export async function findOnPath(name: string, searchPath = process.env.PATH ?? ''): Promise<string | undefined> {
  for (const dir of searchPath.split(delimiter).filter(isAbsolute)) {
    const path = join(dir, name);
    if (await isExecutable(path)) return realpath(path);
  }
  return undefined;
}

/** Whether the path is a file that this process may execute. */
export const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // missing, or not executable by this user
  }
};
