import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log/index.ts';

export interface LeaseOptions {
  /** Takes or renews the lease. @param expiresAt epoch seconds @returns false when another owner holds it */
  readonly take: (expiresAt: number) => Promise<boolean>;
  readonly end: () => Promise<void>;
  /** The lease of a killed owner expires after this time. */
  readonly ttlSeconds: number;
  readonly signal: AbortSignal;
  /** How long to wait for another owner. @default 0 */
  readonly maxWaitMs?: number;
  readonly log: Log;
}

/** Another owner holds the lease. */
export class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';
}

/** Time to live of the leases of an update, in seconds. */
export const LEASE_SECONDS = 60;
/** Time between attempts to take the lease of another owner. */
const MAX_POLL_INTERVAL_MS = 5_000;

/**
 * Runs work under a lease, which is renewed until the work is done. Aborts the work when the lease is lost.
 * @throws LeaseTaken
 */
export async function withLease<T>(options: LeaseOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { take, end, ttlSeconds, signal, maxWaitMs = 0, log } = options;
  const takeNow = () => take(Math.floor(Date.now() / 1000) + ttlSeconds);
  const renewalIntervalMs = (ttlSeconds * 1000) / 3;
  const giveUpAt = Date.now() + maxWaitMs;
  while (!(await takeNow())) {
    if (Date.now() >= giveUpAt) throw new LeaseTaken('Another run holds the lease');
    await sleep(Math.min(renewalIntervalMs, MAX_POLL_INTERVAL_MS), undefined, { signal });
  }
  const lost = new AbortController();
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A failed renewal is repeated before the lease expires; a refused one means that another owner took over.
    renewing = takeNow().then(
      (held) => (held ? undefined : lost.abort(new LeaseTaken('The lease was lost'))),
      (error) => log.warn('Failed to renew lease', { error }),
    );
  }, renewalIntervalMs);
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
    await renewing;
    // This is not thrown: the lease expires soon, and the result or the error of the work matters more.
    await end().catch((error) => log.warn('Failed to release lease', { error }));
  }
}
