import type { Lease } from './lease-item.ts';
import type { MaintenanceLease, StreamTaskLease } from './state.ts';

type Item = Readonly<Record<string, unknown>>;

/** Parses a lease without further attributes. */
export function readLease({ owner, expiresAt }: Item): Lease | undefined {
  return typeof owner === 'string' && typeof expiresAt === 'number' ? { owner, expiresAt } : undefined;
}

/** Parses the maintenance lease. */
export function readMaintenance({ activity, owner, expiresAt }: Item): MaintenanceLease | undefined {
  if (typeof activity !== 'string' || typeof owner !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { activity, owner, expiresAt };
}

/** Parses the lease for starting the stream host. */
export function readStreamTask({ owner, startedAt, expiresAt, taskArn }: Item): StreamTaskLease | undefined {
  if (typeof owner !== 'string' || typeof startedAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { owner, startedAt, expiresAt, taskArn: typeof taskArn === 'string' ? taskArn : undefined };
}
