import type { Lease, MaintenanceLease, OriginSecrets, StreamTaskLease } from './state.ts';
import type { StateStorage, StoredItem } from './storage.ts';

/** One lease, stored as an item of the table. */
export interface LeaseItem<T extends Lease> {
  /** The current lease; undefined once expired. */
  get(): Promise<T | undefined>;
  /**
   * Acquires or renews the lease. False if another owner holds it.
   * @param from an owner to take it over from, after that owner was found to have failed
   */
  acquire(lease: T, from?: string): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  release(owner: string): Promise<void>;
}

/** Options of `createLeaseItem`. */
export interface LeaseItemOptions<T extends Lease> {
  readonly storage: StateStorage;
  readonly pk: string;
  /** Parses an item; undefined if it is no such lease. */
  readonly read: (item: StoredItem) => T | undefined;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Creates access to one lease. */
export const createLeaseItem = <T extends Lease>({ storage, pk, read, now }: LeaseItemOptions<T>): LeaseItem<T> => ({
  get: async () => {
    const item = await storage.get(pk);
    const lease = item && read(item);
    return lease && lease.expiresAt > now() ? lease : undefined;
  },
  acquire: (lease, from = lease.owner) => {
    const { owner, expiresAt, ...attributes } = lease;
    return storage.putIf({ ...attributes, pk, owner, expiresAt }, { expiredAt: now(), owners: [owner, from] });
  },
  release: (owner) => storage.deleteOwned(pk, owner),
});

/** Parses a lease without further attributes. */
export function readLease({ owner, expiresAt }: StoredItem): Lease | undefined {
  return typeof owner === 'string' && typeof expiresAt === 'number' ? { owner, expiresAt } : undefined;
}

/** Parses the maintenance lease. */
export function readMaintenance({ activity, owner, expiresAt }: StoredItem): MaintenanceLease | undefined {
  if (typeof activity !== 'string' || typeof owner !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { activity, owner, expiresAt };
}

/** Parses the lease for starting the stream host. */
export function readStreamTask({ owner, startedAt, expiresAt, taskArn }: StoredItem): StreamTaskLease | undefined {
  if (typeof owner !== 'string' || typeof startedAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { owner, startedAt, expiresAt, taskArn: typeof taskArn === 'string' ? taskArn : undefined };
}

const ORIGIN_SECRET_PK = 'origin-secret';

/** A secret and the rotation that created it. */
interface RotatedSecret {
  readonly rotation: string;
  readonly secret: string;
}

/** The origin secrets of a rotation, as `State.rotateOriginSecret` describes. @throws Error when the item is unreadable */
export async function rotateOriginSecret(
  storage: Pick<StateStorage, 'get' | 'putIf'>,
  rotation: string,
  candidate: string,
): Promise<OriginSecrets> {
  for (;;) {
    const item = { pk: ORIGIN_SECRET_PK, owner: rotation };
    if (await storage.putIf({ ...item, secret: candidate }, {})) return { current: candidate };
    const { current, previous } = parseSecrets(await storage.get(ORIGIN_SECRET_PK));
    if (current.rotation === rotation) return { current: current.secret, previous: previous?.secret };
    const secret = previous?.rotation === rotation ? previous.secret : candidate;
    // The owner is the condition: of concurrent rotations the later one starts from the result of the earlier one.
    const isStored = await storage.putIf({ ...item, secret, previous: current }, { owners: [current.rotation] });
    if (isStored) return { current: secret, previous: current.secret };
  }
}

function parseSecrets(item: StoredItem | undefined): { current: RotatedSecret; previous: RotatedSecret | undefined } {
  const current = { rotation: item?.owner, secret: item?.secret };
  if (!isRotatedSecret(current)) throw new Error('Origin secret is not a string');
  return { current, previous: isRotatedSecret(item?.previous) ? item.previous : undefined };
}

function isRotatedSecret(value: unknown): value is RotatedSecret {
  const { rotation, secret } = Object(value);
  return typeof rotation === 'string' && typeof secret === 'string';
}
