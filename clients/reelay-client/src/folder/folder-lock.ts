import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ReelayError } from '../failure.ts';
import { requireWritable } from '../files/index.ts';

const LOCK_FILE = '.reelay.lock';
/** Writing a lock takes less. */
const WRITING_MS = 10_000;

/**
 * Keeps other processes from updating a folder. The lock of a process of this machine that has ended is taken over.
 * @returns what releases it
 * @throws ReelayError `folder-in-use`, `not-writable`
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK_FILE);
  const content = JSON.stringify({ pid: process.pid, host: hostname() });
  const take = async (): Promise<boolean> => {
    try {
      await writeFile(path, content, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      return requireWritable(path, Promise.reject(error));
    }
  };
  if (!(await take())) {
    const held = await readFile(path, 'utf8').catch(() => '');
    const isStale = held === '' ? await isOld(path) : hasEnded(held);
    if (isStale) await removeStale(path, held);
    if (!isStale || !(await take()))
      throw new ReelayError('folder-in-use', {
        message: `Another reelay updates ${folder}; if that is not so, remove ${path}`,
      });
  }
  return () => rm(path, { force: true });
}

/** Whether a lock without content is not that of a process which is about to write it: its process, or the machine, has ended. */
const isOld = async (path: string): Promise<boolean> =>
  Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0) > WRITING_MS;

/** Removes a lock, unless another process has replaced it in the meantime. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => undefined);
  const removed = await readFile(aside, 'utf8').catch(() => stale);
  if (removed === stale) await rm(aside, { force: true });
  else await rename(aside, path);
}

/** Whether the process that has written a lock has ended; not so when that cannot be known. */
function hasEnded(content: string): boolean {
  try {
    const { pid, host } = Object(JSON.parse(content)) as { pid?: unknown; host?: unknown };
    if (host !== hostname() || typeof pid !== 'number') return false;
    if (pid !== process.pid) process.kill(pid, 0);
    return pid === process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
