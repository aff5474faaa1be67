import type { HostService, HostStore } from '../stream-host/index.ts';
import type { Limit } from './concurrency-limit.ts';

interface HostLimitOptions {
  readonly service: Pick<HostService, 'isWanted' | 'stop'>;
  /** The registration that the edge reads. */
  readonly store: Pick<HostStore, 'write'>;
}

/** Stops the on-demand stream host while closed: afterwards the next stream wakes it. */
export const createHostLimit =
  ({ service, store }: HostLimitOptions): Limit =>
  async (isClosed) => {
    if (!isClosed || !(await service.isWanted())) return;
    await store.write(undefined);
    await service.stop();
  };
