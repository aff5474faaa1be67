import { setTimeout as delay } from 'node:timers/promises';
import { problems } from '../../core/api/index.ts';
import type { Release } from '../sessions/index.ts';

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
  const waiting: (() => void)[] = [];
  let running = 0;
  let encoding = 0;

  /** Hands the turn on, so that nobody comes in between. */
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  const enter = async (signal: AbortSignal, patient: boolean) => {
    signal.throwIfAborted();
    if (running < parallelism) {
      running += 1;
      return;
    }
    if (!patient && waiting.length >= maxWaiting) throw problems.noCapacity();
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      waiting.push(go);
      signal.addEventListener('abort', abort, { once: true });
    });
  };

  return {
    async acquire(signal, patient) {
      await enter(signal, patient);
      try {
        let release = tryAcquireFfmpeg();
        while (!release) {
          // Ours end soon; those of others may run for hours.
          if (!patient && encoding === 0) throw problems.noCapacity();
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
