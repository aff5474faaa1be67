import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The name contains the id of the process that created the directory. */
const NAME = /^reelay-worker-(\d+)-/;
/** Containers that share a temporary folder do not see each other's processes: a missing process alone proves nothing. */
const MIN_STALE_AGE_MS = 24 * 3_600_000;

let isCleaned = false;

/** Creates the working directory of one worker. The first call also removes directories of killed processes. */
export async function createWorkerDirectory(): Promise<string> {
  if (!isCleaned) void removeStaleWorkerDirectories(tmpdir());
  isCleaned = true;
  return mkdtemp(join(tmpdir(), `reelay-worker-${process.pid}-`));
}

/** Removes old directories of workers whose process is gone. Those of other users are skipped. */
export async function removeStaleWorkerDirectories(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!pid || !isProcessGone(pid)) continue;
    const home = join(dir, name);
    const changed = (await stat(home).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    // Fails for directories of other users, which stay.
    if (Date.now() - changed > MIN_STALE_AGE_MS)
      await rm(home, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Whether no process has this id on this machine. False for a process of another user (EPERM). */
function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
