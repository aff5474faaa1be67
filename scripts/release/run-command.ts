import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MAX_OUTPUT_BYTES = 2 ** 28;

/** Runs a program with the environment of this one. @returns its output @throws Error with the end of its errors */
export async function runCommand(program: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: MAX_OUTPUT_BYTES });
    return stdout;
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error(`${program} is not installed`, { cause });
    throw new Error(`${program} ${args[0]} failed: ${stderr.trim().slice(-2_000)}`, { cause });
  }
}
