import { setTimeout as delay } from 'node:timers/promises';
import { createSemaphore } from '../../../core/concurrency/index.ts';
import { CapacityExceeded } from '../../../core/errors/index.ts';
import type { Release } from '../../sessions/index.ts';

/** Interval at which a waiting stream tries again to get an FFmpeg process. */
const RETRY_MS = 200;

/** Slots for encoders. An encoder runs for about a second, however slow its client is, so waiting for a slot pays off. */
export interface EncoderSlots {
  /**
   * Waits for a slot, first come, first served.
   * @param patient waits without limit: the client has received bytes, so a refusal cannot be answered
   * @throws CapacityExceeded unless patient, when too many streams wait or other work runs every FFmpeg process; the
   *   signal's reason when it aborts
   */
  acquire(signal: AbortSignal, patient: boolean): Promise<Release>;
}

export interface EncoderSlotsOptions {
  /** Concurrent encoders. */
  readonly parallelism: number;
  /** Takes one of the instance's FFmpeg processes, if one is free. */
  readonly tryAcquireFfmpeg: () => Release | undefined;
  /** Streams without a sent byte that may wait for a slot. */
  readonly maxWaiting: number;
}

export function createEncoderSlots({ parallelism, tryAcquireFfmpeg, maxWaiting }: EncoderSlotsOptions): EncoderSlots {
  const slots = createSemaphore({ permits: parallelism });
  let encoding = 0;

  const enter = async (signal: AbortSignal, patient: boolean) => {
    signal.throwIfAborted();
    const slot = slots.tryAcquire();
    if (slot) return slot;
    if (!patient && slots.waiting() >= maxWaiting) throw new CapacityExceeded('Too many streams wait for an encoder');
    return slots.acquire(signal);
  };

  return {
    async acquire(signal, patient) {
      const leave = await enter(signal, patient);
      try {
        let release = tryAcquireFfmpeg();
        while (!release) {
          // Other encoders end within seconds; muxers may run for hours.
          if (!patient && encoding === 0) throw new CapacityExceeded('Other work runs every FFmpeg process');
          await delay(RETRY_MS, undefined, { signal });
          release = tryAcquireFfmpeg();
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
