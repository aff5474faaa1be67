import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs, promisify } from 'node:util';
import { messageOf } from '../core/errors/index.ts';

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `parseArgs` of Node. @throws UsageError */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

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

/** Packs the package of a folder. @param name of the tarball in `target`; by default of package and version @returns its path */
export async function packTarball(folder: string, target: string, name?: string): Promise<string> {
  const output = await runCommand('npm', ['pack', '--silent', '--pack-destination', target], folder);
  const file = join(target, output.trim());
  if (!name) return file;
  await rename(file, join(target, name));
  return join(target, name);
}
