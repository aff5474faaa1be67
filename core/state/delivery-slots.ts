/** Deliveries that an instance knows at once: those that are sent or wait, and the reports of those that have ended. */
export const DELIVERY_SLOTS = 10;

/** One delivery, in its slot. */
export interface StoredDelivery {
  readonly id: string;
  /** Who may ask for it. */
  readonly client: string;
  /** Names what has written it last. Absent: it has not been begun. */
  readonly writer?: string | undefined;
  /** What it is and how far it is, for the clients that follow it. */
  readonly report: unknown;
  /** What is needed to continue it, encrypted: it contains credentials. Absent once it has ended. */
  readonly sealed?: string | undefined;
}

/**
 * The deliveries of an instance. There is a fixed number of places for them: the queue is bounded, and any process finds what
 * another one has left.
 */
export interface DeliverySlots {
  /** Undefined: the slot is free. */
  getDelivery(slot: number): Promise<StoredDelivery | undefined>;
  /** Stores a new delivery in a slot that is free, or has one that has ended. False: the slot is taken. */
  takeDelivery(slot: number, delivery: StoredDelivery): Promise<boolean>;
  /**
   * Replaces a delivery that was read, for the holder of the lease. False: another writer has replaced it since, which happens to
   * a process that was paused, or whose clock is wrong.
   */
  putDelivery(slot: number, delivery: StoredDelivery, read: StoredDelivery): Promise<boolean>;
  /** Acquires or renews the right to send the delivery of a slot; `expiresAt` in epoch seconds. False: another process has it. */
  acquireDelivery(slot: number, lease: { readonly owner: string; readonly expiresAt: number }): Promise<boolean>;
  /** Notes that a client wants a delivery to end, for the process that sends it. */
  cancelDelivery(slot: number, id: string): Promise<void>;
  /** The id of the last delivery of a slot that was to end. */
  getCancelledDelivery(slot: number): Promise<string | undefined>;
}
