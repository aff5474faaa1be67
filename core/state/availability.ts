import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamError } from '../errors/index.ts';
import type { Track } from './resource.ts';

/** Longest wait for a track that its source serves only from a moment on. */
export const MAX_AVAILABILITY_WAIT_MS = 20_000;

/**
 * Milliseconds until the source serves a track; 0 when it does.
 * @param now epoch milliseconds
 */
export const availabilityDelayMs = ({ availableAt = 0 }: Pick<Track, 'availableAt'>, now: number): number =>
  Math.max(0, availableAt * 1000 - now);

export interface AvailabilityOptions {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * Waits until the source serves a track.
 * @throws UpstreamError `delayed`, at once, when that takes longer than `maxWaitMs`
 */
export async function untilAvailable(
  track: Pick<Track, 'availableAt'>,
  { maxWaitMs, signal, now = Date.now }: AvailabilityOptions,
): Promise<void> {
  const delayMs = availabilityDelayMs(track, now());
  if (delayMs === 0) return;
  const retryAfterSeconds = Math.ceil(delayMs / 1000);
  if (delayMs > maxWaitMs)
    throw new UpstreamError('The source does not serve the format yet', { reason: 'delayed', retryAfterSeconds });
  await sleep(delayMs, undefined, { signal });
}
