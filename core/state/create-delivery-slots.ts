import type { DeliverySlots, StoredDelivery } from './delivery-slots.ts';
import { createLeaseItem } from './leases.ts';
import type { Lease } from './state.ts';
import type { StateStorage } from './storage.ts';

const TTL_SECONDS = 7 * 24 * 3600;
/** Owner of the item of a delivery that has ended: its slot may be taken. */
const ENDED = 'ended';
/** Among the resources, which stream hosts may read and write. */
const PREFIX = 'resource#delivery#';

const writerOf = ({ id, writer = id }: StoredDelivery): string => writer;

/** @param options `now`: epoch seconds */
export function createDeliverySlots({
  storage,
  now,
}: {
  readonly storage: StateStorage;
  readonly now: () => number;
}): DeliverySlots {
  const leaseOf = (slot: number) => createLeaseItem<Lease>({ storage, now, pk: `${PREFIX}lease#${slot}` });
  const itemOf = (slot: number, delivery: StoredDelivery) => ({
    pk: PREFIX + slot,
    owner: delivery.sealed === undefined ? ENDED : writerOf(delivery),
    expiresAt: now() + TTL_SECONDS,
    record: JSON.stringify(delivery),
  });
  return {
    async getDelivery(slot) {
      const item = await storage.get(PREFIX + slot);
      if (!item || typeof item.record !== 'string' || Number(item.expiresAt) <= now()) return undefined;
      return JSON.parse(item.record) as StoredDelivery;
    },
    takeDelivery: (slot, delivery) => storage.putIf(itemOf(slot, delivery), { expiredAt: now(), owners: [ENDED] }),
    putDelivery: (slot, delivery, read) =>
      storage.putIf(itemOf(slot, delivery), { owners: [writerOf(read), writerOf(delivery)] }),
    acquireDelivery: (slot, lease) => leaseOf(slot).acquire(lease),
    cancelDelivery: (slot, id) =>
      storage.put({ pk: `${PREFIX}cancelled#${slot}`, owner: id, expiresAt: now() + TTL_SECONDS }),
    getCancelledDelivery: async (slot) => (await storage.get(`${PREFIX}cancelled#${slot}`))?.owner,
  };
}
