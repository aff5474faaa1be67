import type { Lease, OriginSecrets } from './state.ts';
import type { StateStorage, StoredItem } from './storage.ts';

/** One lease, stored as an item of the table. */
interface LeaseItem<T extends Lease> {
  /** The current lease; undefined once expired. */
  get(): Promise<T | undefined>;
  /** Acquires or renews the lease. False if another owner holds it. */
  acquire(lease: T): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  release(owner: string): Promise<void>;
}

interface LeaseItemOptions<T extends Lease> {
  readonly storage: StateStorage;
  readonly pk: string;
  /** Names of the texts that a lease of this kind has besides those of every lease. */
  readonly attributes?: Readonly<Partial<Record<keyof T, 'string'>>>;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Creates access to one lease. An item that lacks an attribute is no lease. */
export function createLeaseItem<T extends Lease>({ storage, pk, attributes, now }: LeaseItemOptions<T>): LeaseItem<T> {
  const types = Object.entries({ owner: 'string', expiresAt: 'number', ...attributes });
  return {
    get: async () => {
      const { pk: _, ...item } = (await storage.get(pk)) ?? { pk };
      const isLease = types.every(([name, type]) => typeof item[name] === type);
      return isLease && Number(item.expiresAt) > now() ? (item as unknown as T) : undefined;
    },
    acquire: ({ owner, expiresAt, ...more }) =>
      storage.putIf({ ...more, pk, owner, expiresAt }, { expiredAt: now(), owners: [owner] }),
    release: (owner) => storage.deleteOwned(pk, owner),
  };
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

/** The secrets that are accepted. @throws Error when the item is missing or unreadable */
export async function getOriginSecrets(storage: Pick<StateStorage, 'get'>): Promise<string[]> {
  const { current, previous } = parseSecrets(await storage.get(ORIGIN_SECRET_PK));
  return [current.secret, ...(previous ? [previous.secret] : [])];
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
