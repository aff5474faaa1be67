import type { State } from './state.ts';
import type { StateStorage } from './storage.ts';

/** A day longer than a resource after the same touch, so that a cover never expires before the keys of its resource. */
const TTL_SECONDS = 48 * 3600;

export interface CoversOptions {
  readonly storage: StateStorage;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Covers as items beside those of their resources, within the same permissions. */
export interface Covers extends Pick<State, 'getCover' | 'putCover'> {
  /** Extends the lifetime of a cover, if there is one, with that of its resource. @throws StorageFull */
  touchCover(resourceId: string): Promise<void>;
}

export function createCovers({ storage, now }: CoversOptions): Covers {
  const keyOf = (resourceId: string) => `resource#${resourceId}#cover`;

  const getCover = async (resourceId: string): Promise<Buffer | undefined> => {
    const { data, expiresAt = 0 } = (await storage.get(keyOf(resourceId))) ?? {};
    return data instanceof Uint8Array && expiresAt > now() ? Buffer.from(data) : undefined;
  };

  return {
    getCover,
    putCover: async (resourceId, jpeg) => {
      const item = { pk: keyOf(resourceId), expiresAt: now() + TTL_SECONDS, data: new Uint8Array(jpeg) };
      if (await storage.putIf(item, { expiredAt: now() })) return jpeg;
      return (await getCover(resourceId)) ?? jpeg;
    },
    touchCover: (resourceId) => {
      const expiresAt = now() + TTL_SECONDS;
      return storage.extend(keyOf(resourceId), { after: now(), upTo: expiresAt - 1, expiresAt });
    },
  };
}
