import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolsUpdate } from './create-tools-update.ts';

/** Another run is in progress. */
export class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';
}

/** As long as the functions that update may run: a lease is never lost, and that of a killed run ends. */
export const LEASE_SECONDS = 10 * 60;
const POLL_INTERVAL_MS = 5_000;

/**
 * Runs work in one run at a time.
 * @param options.maxWaitMs how long to wait for another run to end. @default 0
 * @throws LeaseTaken
 */
export async function withUpdateLease<T>(
  { state, leaseSeconds = LEASE_SECONDS, onStep, log }: ToolsUpdate,
  { signal, maxWaitMs = 0 }: { readonly signal: AbortSignal; readonly maxWaitMs?: number },
  work: () => Promise<T>,
): Promise<T> {
  const owner = randomUUID();
  const giveUpAt = Date.now() + maxWaitMs;
  while (!(await state.takeToolsUpdate({ owner, expiresAt: Math.floor(Date.now() / 1000) + leaseSeconds }))) {
    if (Date.now() >= giveUpAt) throw new LeaseTaken('Another run holds the lease');
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
  onStep('leased');
  try {
    return await work();
  } finally {
    // The lease ends by itself, and the result or the error of the work matters more.
    await state.endToolsUpdate(owner).catch((error) => log.warn('Failed to release lease', { error }));
  }
}
