import type { AudioStart } from './audio-start.ts';

/** Seconds after which the 33 bits of an MPEG-TS timestamp begin anew (ISO/IEC 13818-1 §2.4.3.7: 90 kHz). */
const TIMESTAMP_PERIOD_SECONDS = 2 ** 33 / 90_000;
/** Playlists round their durations: so far may timestamps and playlist be apart and still speak of the same place. */
const TOLERANCE_SECONDS = 30;
/** The same where a clock that begins anew may be apart by a little, too. */
const TOLERANCE_ANEW_SECONDS = 1;

/**
 * Seconds from the first audio sample of a segmented source to the first one of a run within it.
 *
 * The timestamps say it exactly, where they count on through the whole source. Where each segment counts from 0 (packed
 * MP3 and AAC) or the clock was set anew in between (advertisements), the playlist has to say it.
 *
 * @param source where the clock stands at the first audio sample of all
 * @param run where it stands at the first one of the run, where that could be read
 * @param startSeconds where the playlist says that the run starts
 * @param hasDiscontinuity whether the playlist declares that timestamps are reset in between
 */
export function runOffsetSeconds(
  source: AudioStart,
  run: AudioStart | undefined,
  startSeconds: number,
  hasDiscontinuity = false,
): number {
  if (!run || startSeconds === 0) return startSeconds;
  const told = clock(run) - clock(source);
  const wraps = Math.round((startSeconds - told) / TIMESTAMP_PERIOD_SECONDS);
  const offset = told + wraps * TIMESTAMP_PERIOD_SECONDS;
  const apart = Math.abs(offset - startSeconds);
  return apart < (hasDiscontinuity ? TOLERANCE_ANEW_SECONDS : TOLERANCE_SECONDS) && apart < Math.abs(offset)
    ? offset
    : startSeconds;
}

const clock = ({ firstSample, sampleRate }: AudioStart): number => firstSample / sampleRate;
