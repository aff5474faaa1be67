import type { createHostStore } from '../stream-host/index.ts';

/** The flag in the key-value store for which the edge function answers 503. */
export interface EdgeFlag {
  /** The store, which a change of the stream host replaces by an empty one. */
  readonly storeArn: string;
  /** @param until epoch seconds: the flag ends by itself; undefined removes it. @throws Error when other writers win each time */
  set(until: number | undefined): Promise<void>;
}

/** The key of the key-value store that the edge function reads. */
export const CLOSED_KEY = 'closed';

/** Registrations of stream tasks and access keys are in the same store, whose version each write changes. */
const MAX_ATTEMPTS = 5;

export const createEdgeFlag = (storeArn: string, store: ReturnType<typeof createHostStore>): EdgeFlag => ({
  storeArn,
  async set(until) {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const version = await store.version();
      if (await store.write(until === undefined ? undefined : String(until), version)) return;
    }
    throw new Error('Key-value store changed concurrently on every attempt');
  },
});
