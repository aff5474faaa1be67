import type { State } from './state.ts';
import type { StateStorage } from './storage.ts';

/** A day longer than a resource after the same touch, so that a cover never expires before the keys of its resource. */
const TTL_SECONDS = 48 * 3600;
/** Reading extends the lifetime at most this often. */
const TOUCH_INTERVAL_SECONDS = 12 * 3600;

interface AttachmentsOptions {
  readonly storage: StateStorage;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Attachments as items beside those of their resources, within the same permissions. */
interface Attachments extends Pick<State, 'getAttachment' | 'putAttachment' | 'dropAttachment'> {
  /** Extends the lifetime of the cover, if there is one, with that of its resource. @throws StorageFull */
  touchCover(resourceId: string): Promise<void>;
}

export function createAttachments({ storage, now }: AttachmentsOptions): Attachments {
  const keyOf = (resourceId: string, name: string) => `resource#${resourceId}#${name}`;
  const extend = (pk: string, upTo: number) =>
    storage.extend(pk, { after: now(), upTo, expiresAt: now() + TTL_SECONDS });

  const getAttachment: State['getAttachment'] = async (resourceId, name) => {
    const pk = keyOf(resourceId, name);
    const { data, expiresAt = 0 } = (await storage.get(pk)) ?? {};
    if (!(data instanceof Uint8Array) || expiresAt <= now()) return undefined;
    const staleUntil = now() + TTL_SECONDS - TOUCH_INTERVAL_SECONDS;
    // Without disk space for the change it can still be read.
    if (expiresAt <= staleUntil) await extend(pk, staleUntil).catch(() => undefined);
    return Buffer.from(data);
  };

  return {
    getAttachment,
    putAttachment: async (resourceId, name, bytes) => {
      const item = { pk: keyOf(resourceId, name), expiresAt: now() + TTL_SECONDS, data: new Uint8Array(bytes) };
      if (await storage.putIf(item, { expiredAt: now() })) return bytes;
      return (await getAttachment(resourceId, name)) ?? bytes;
    },
    // Expired: a host may change the expiry of items of resources, and may not delete them.
    dropAttachment: (resourceId, name) =>
      storage.extend(keyOf(resourceId, name), { after: now(), upTo: Number.MAX_SAFE_INTEGER, expiresAt: now() }),
    touchCover: (resourceId) => extend(keyOf(resourceId, 'cover'), now() + TTL_SECONDS - 1),
  };
}
