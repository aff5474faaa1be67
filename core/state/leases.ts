import type { Lease } from './lease-item.ts';
import type { MaintenanceLease, StreamTaskLease } from './state.ts';

type Item = Readonly<Record<string, unknown>>;

/** A lease that says no more than whose it is. */
export function readLease({ owner, expiresAt }: Item): Lease | undefined {
  return typeof owner === 'string' && typeof expiresAt === 'number' ? { owner, expiresAt } : undefined;
}

/** The maintenance lease in an item of the table. */
export function readMaintenance({ activity, owner, expiresAt }: Item): MaintenanceLease | undefined {
  if (typeof activity !== 'string' || typeof owner !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { activity, owner, expiresAt };
}

/** The lease of whoever starts the stream host, in an item of the table. */
export function readStreamTask({ owner, startedAt, expiresAt, taskArn }: Item): StreamTaskLease | undefined {
  if (typeof owner !== 'string' || typeof startedAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { owner, startedAt, expiresAt, ...(typeof taskArn === 'string' && { taskArn }) };
}
