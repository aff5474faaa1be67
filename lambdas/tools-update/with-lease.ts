import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log/index.ts';

export interface LeaseOptions {
  /** @param expiresAt epoch seconds. False when another owner holds it. */
  readonly take: (expiresAt: number) => Promise<boolean>;
  readonly end: () => Promise<void>;
  /** Seconds after which it ends by itself when whoever holds it dies. */
  readonly ttlSeconds: number;
  readonly signal: AbortSignal;
  /** Milliseconds to wait for another owner. @default 0 */
  readonly maxWaitMs?: number;
  readonly log: Log;
}

/** A lease that somebody else holds. */
export class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';
}

/** Milliseconds between two looks at a lease of another owner, at most. */
const LOOK_EVERY = 5_000;

/**
 * Does work under a lease that is renewed while the work goes on. The work is told to end when the lease is lost.
 * @throws LeaseTaken
 */
export async function withLease<T>(options: LeaseOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { take, end, ttlSeconds: seconds, signal, maxWaitMs: patience = 0, log } = options;
  const takeNow = () => take(Math.floor(Date.now() / 1000) + seconds);
  const interval = (seconds * 1000) / 3;
  const until = Date.now() + patience;
  while (!(await takeNow())) {
    if (Date.now() >= until) throw new LeaseTaken('Another run holds the lease');
    await sleep(Math.min(interval, LOOK_EVERY), undefined, { signal });
  }
  const lost = new AbortController();
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A renewal that fails is tried again in time; one that is refused means that somebody took over.
    renewing = takeNow().then(
      (held) => (held ? undefined : lost.abort(new LeaseTaken('The lease was lost'))),
      (error) => log.warn('A lease could not be renewed', { error: String(error) }),
    );
  }, interval);
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
    await renewing;
    // It ends by itself soon: not worth failing what is done, nor hiding what went wrong.
    await end().catch((error) => log.warn('A lease could not be ended', { error: String(error) }));
  }
}
