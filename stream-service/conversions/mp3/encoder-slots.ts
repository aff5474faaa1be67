import { setTimeout as delay } from 'node:timers/promises';
import { createSemaphore } from '../../../core/concurrency/index.ts';
import { CapacityExceeded } from '../../../core/errors/index.ts';
import type { Release } from '../../sessions/index.ts';

/** Milliseconds until a stream that has begun looks again for a process that others have taken. */
const RETRY_MS = 200;

/** Turns at encoding. Each lasts a second or so, whatever its client does with it: so waiting for one is worthwhile. */
export interface EncoderSlots {
  /**
   * Waits for a turn, first come, first served.
   * @param patient waits as long as it takes: the client has bytes already and cannot be answered otherwise
   * @throws Problem 503 when it is not patient and too many wait, or all processes are taken by other work; the signal's
   *   reason when it aborts
   */
  acquire(signal: AbortSignal, patient: boolean): Promise<Release>;
}

export interface EncoderSlotsOptions {
  /** Encoders at once. */
  readonly parallelism: number;
  /** A place among all FFmpeg processes of the instance, if one is free. */
  readonly tryAcquireFfmpeg: () => Release | undefined;
  /** Turns waited for at once by streams that have not begun. */
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
          // Ours end soon; those of others may run for hours.
          if (!patient && encoding === 0) throw new CapacityExceeded('Other work runs every FFmpeg process');
          await delay(RETRY_MS, undefined, { signal });
          release = tryAcquireFfmpeg();
        }
        encoding += 1;
        const giveBack = release;
        return () => {
          giveBack();
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
