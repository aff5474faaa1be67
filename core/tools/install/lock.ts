import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessGone } from '../process/index.ts';

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once when another process holds the lock. An error that it throws ends the wait. */
  readonly onWait?: () => void;
  /**
   * Time without a heartbeat after which the lock of another machine is taken over. On this machine it is taken over as
   * soon as the process of its owner is gone. @default 30_000
   */
  readonly staleAfterMs?: number;
  /** @default 500 */
  readonly pollIntervalMs?: number;
}

/**
 * Runs work under a lock file, in one process at a time. The owner updates the modification time of the file as a
 * heartbeat; a waiting process takes over when the heartbeat or the process has stopped.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { signal, onWait, staleAfterMs = 30_000, pollIntervalMs = 500 } = options;
  const owner = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
  await mkdir(dirname(file), { recursive: true });
  const isStale = createStaleCheck(staleAfterMs);
  for (let waits = 0; !(await take(file, owner)); waits++) {
    if (waits === 0) onWait?.();
    if (!(await evict(file, isStale))) await sleep(pollIntervalMs, undefined, { signal });
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // taken over by another process, which now sends the heartbeat
  }, staleAfterMs / 4);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    if ((await read(file)) === owner) await rm(file, { force: true });
  }
}

async function take(file: string, owner: string): Promise<boolean> {
  try {
    await writeFile(file, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Whether a heartbeat, in epoch milliseconds, is too old, or has not changed for that long. The second check is for an
 * owner whose clock was ahead, whose heartbeat would never be too old.
 */
function createStaleCheck(staleAfterMs: number): (heartbeat: number) => boolean {
  let last = Number.NaN;
  let since = 0;
  return (heartbeat) => {
    if (heartbeat !== last) [last, since] = [heartbeat, performance.now()];
    return Date.now() - heartbeat >= staleAfterMs || performance.now() - since >= staleAfterMs;
  };
}

/** Removes an abandoned lock. @returns true when the lock may be free now */
async function evict(file: string, isStale: (heartbeat: number) => boolean): Promise<boolean> {
  const seen = await stat(file).catch(() => undefined);
  if (!seen) return true;
  const holder = await read(file);
  if (!isStale(seen.mtimeMs) && !isGone(holder)) return false;
  // Renamed rather than removed: only one waiting process succeeds, and it restores a lock that was taken meanwhile.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return true; // another process was faster
  }
  if ((await read(aside)) !== holder) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
  return true;
}

/** Whether the holder is a process of this machine that has ended. */
function isGone(holder: string | undefined): boolean {
  try {
    const { host, pid } = JSON.parse(holder ?? '') as { host: string; pid: number };
    return host === hostname() && isProcessGone(pid);
  } catch {
    return false; // not a lock of this format
  }
}

const read = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);
