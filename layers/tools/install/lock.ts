import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessGone } from '../process/index.ts';

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once, when another process holds the lock; what it throws ends the wait. */
  readonly onWait?: () => void;
  /**
   * Milliseconds without a sign of life after which a holder on another machine counts as dead. One on this machine
   * does at once when its process is gone. @default 30_000
   */
  readonly staleAfterMs?: number;
  /** Milliseconds between looks. @default 500 */
  readonly pollIntervalMs?: number;
}

/**
 * Does work that one process at a time may do. The holder gives signs of life; whoever waits takes over from one that
 * died.
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { signal, onWait, staleAfterMs: staleAfter = 30_000, pollIntervalMs: interval = 500 } = options;
  const owner = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
  await mkdir(dirname(file), { recursive: true });
  const isSilent = createWatch(staleAfter);
  for (let waits = 0; !(await take(file, owner)); waits++) {
    if (waits === 0) onWait?.();
    if (!(await evict(file, isSilent))) await sleep(interval, undefined, { signal });
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // taken over meanwhile: its owner beats now
  }, staleAfter / 4);
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
 * Tells a holder that is silent: its last sign of life, in epoch milliseconds, is long ago, or has been the same for as
 * long as that. By the time of day alone, one whose clock was ahead would be alive for ever.
 */
function createWatch(staleAfter: number): (lastSign: number) => boolean {
  let last = Number.NaN;
  let since = 0;
  return (lastSign) => {
    if (lastSign !== last) [last, since] = [lastSign, performance.now()];
    return Date.now() - lastSign >= staleAfter || performance.now() - since >= staleAfter;
  };
}

/** True when the place may be free now. */
async function evict(file: string, isSilent: (lastSign: number) => boolean): Promise<boolean> {
  const seen = await stat(file).catch(() => undefined);
  if (!seen) return true;
  const holder = await read(file);
  if (!isSilent(seen.mtimeMs) && !isGone(holder)) return false;
  // Moved away rather than removed: of several who wait, one has it, and puts back what turns out to be another's.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return true; // somebody else was faster
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
    return false; // it is no note of ours
  }
}

const read = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);
