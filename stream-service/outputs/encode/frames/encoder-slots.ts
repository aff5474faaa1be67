import { setTimeout as delay } from 'node:timers/promises';
import { createSemaphore } from '@reelay/concurrency';
import { CapacityExceeded, ClientLimitExceeded } from '../../../../core/errors/index.ts';
import type { Release } from '../../../sessions/index.ts';

/** Interval at which a waiting stream tries again to get an FFmpeg process. */
const RETRY_MS = 200;
/** Retry-After for a client with too many waiting streams. */
const CLIENT_RETRY_SECONDS = 10;

/** Slots for encoders. An encoder runs for about a second, however slow its client is, so waiting for a slot pays off. */
export interface EncoderSlots {
  /**
   * Waits for a slot: clients in turn, each first come, first served.
   * @param client whose share of the slots is used
   * @param hasStarted the client has received bytes, so that a refusal can no longer be answered: waits without limit
   * @throws CapacityExceeded unless the stream has started, when too many streams wait or other work runs every FFmpeg
   * process; the signal's reason when it aborts
   */
  acquire(client: string, signal: AbortSignal, hasStarted: boolean): Promise<Release>;
  /** @throws CapacityExceeded, ClientLimitExceeded when a stream of the client without a sent byte could not wait for a slot */
  requireRoom(client: string): void;
}

export interface EncoderSlotsOptions {
  /** Concurrent encoders. */
  readonly parallelism: number;
  /** Takes one of the instance's FFmpeg processes, if one is free. */
  readonly tryAcquireFfmpeg: (client: string) => Release | undefined;
  /** Streams without a sent byte that may wait for a slot. */
  readonly maxWaiting: number;
}

export function createEncoderSlots({ parallelism, tryAcquireFfmpeg, maxWaiting }: EncoderSlotsOptions): EncoderSlots {
  const slots = createSemaphore({ permits: parallelism });
  const maxWaitingPerClient = Math.ceil(maxWaiting / 2);
  let encoding = 0;

  const requireRoom = (client: string) => {
    if (slots.waiting() >= maxWaiting) throw new CapacityExceeded('Too many streams wait for an encoder');
    if (slots.waiting(client) >= maxWaitingPerClient)
      throw new ClientLimitExceeded('Too many streams of the client wait for an encoder', CLIENT_RETRY_SECONDS);
  };
  const enter = async (client: string, signal: AbortSignal, hasStarted: boolean) => {
    signal.throwIfAborted();
    if (!hasStarted) requireRoom(client);
    return (await slots.acquire(client, signal)).release;
  };

  return {
    requireRoom,
    async acquire(client, signal, hasStarted) {
      const leave = await enter(client, signal, hasStarted);
      try {
        let release = tryAcquireFfmpeg(client);
        while (!release) {
          // Other encoders end within seconds; muxers may run for hours.
          if (!hasStarted && encoding === 0) throw new CapacityExceeded('Other work runs every FFmpeg process');
          await delay(RETRY_MS, undefined, { signal });
          release = tryAcquireFfmpeg(client);
        }
        encoding += 1;
        const releaseFfmpeg = release;
        return () => {
          releaseFfmpeg();
          encoding -= 1;
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
