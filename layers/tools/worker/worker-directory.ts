import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessGone } from '../process/index.ts';

/** The process that made it is in its name. */
const NAME = /^reelay-worker-(\d+)-/;
/** Milliseconds: where containers share a temporary folder, one's process is unknown to the other. */
const OLD = 24 * 3_600_000;

let isSwept = false;

/** A folder of its own for one worker. The first call also sweeps away what killed processes have left. */
export async function createWorkerDirectory(): Promise<string> {
  if (!isSwept) void removeStaleWorkerDirectories(tmpdir());
  isSwept = true;
  return mkdtemp(join(tmpdir(), `reelay-worker-${process.pid}-`));
}

/** Removes workers' folders that are old and whose process is gone, as far as they are ours to remove. */
export async function removeStaleWorkerDirectories(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!pid || !isProcessGone(pid)) continue;
    const home = join(dir, name);
    const changed = (await stat(home).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    // Another user's stays: nobody waits for it.
    if (Date.now() - changed > OLD) await rm(home, { recursive: true, force: true }).catch(() => undefined);
  }
}
