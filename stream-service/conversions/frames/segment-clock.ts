import type { AudioStart } from './audio-start.ts';

/** Seconds after which the 33-bit timestamps of MPEG-TS wrap around (ISO/IEC 13818-1 §2.4.3.7: 90 kHz). */
const TIMESTAMP_PERIOD_SECONDS = 2 ** 33 / 90_000;
/** Playlists round durations: timestamps and playlist that differ by less mean the same position. */
const TOLERANCE_SECONDS = 30;
/** The same across a discontinuity, whose timestamps may be off by little, too. */
const DISCONTINUITY_TOLERANCE_SECONDS = 1;

/**
 * Seconds from the first audio sample of a segmented source to the first one of a read within it.
 *
 * Exact by timestamps, where they are continuous through the whole source. Where each segment counts from 0 (packed MP3
 * and AAC) or timestamps were reset in between (advertisements), by the playlist.
 *
 * @param source timestamp of the first audio sample of the source
 * @param run timestamp of the first one of the read, if one was found
 * @param startSeconds start of the read by the playlist
 * @param hasDiscontinuity whether the playlist declares that timestamps are reset in between
 */
export function runOffsetSeconds(
  source: AudioStart,
  run: AudioStart | undefined,
  startSeconds: number,
  hasDiscontinuity = false,
): number {
  if (!run || startSeconds === 0) return startSeconds;
  const measured = clock(run) - clock(source);
  const wraps = Math.round((startSeconds - measured) / TIMESTAMP_PERIOD_SECONDS);
  const offset = measured + wraps * TIMESTAMP_PERIOD_SECONDS;
  const apart = Math.abs(offset - startSeconds);
  return apart < (hasDiscontinuity ? DISCONTINUITY_TOLERANCE_SECONDS : TOLERANCE_SECONDS) && apart < Math.abs(offset)
    ? offset
    : startSeconds;
}

const clock = ({ firstSample, sampleRate }: AudioStart): number => firstSample / sampleRate;
