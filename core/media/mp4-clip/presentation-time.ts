import { type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';

/** 1.0 in 16.16 fixed point. */
const NORMAL_RATE = 0x1_0000;
/** `media_time` of an empty edit: a delay. */
const EMPTY = -1n;

/** How a track's media times relate to the times that a player shows. Seconds. */
export interface PresentationTime {
  /** Added to the composition time of a sample. */
  readonly shiftSeconds: number;
  /** Where the edit list ends the presentation; infinite where it does not. */
  readonly endSeconds: number;
}

/**
 * The presentation times of a track by its edit list (ISO/IEC 14496-12 §8.6.6): any delay, then one edit at normal rate.
 * @throws UnsupportedMp4 when the edit list has more
 */
export function presentationTime({
  edits,
  movieTimescale,
  timescale,
  fragmentDefaults,
}: TrackHeader): PresentationTime {
  const first = edits.findIndex(({ mediaTime }) => mediaTime !== EMPTY);
  const delays = first < 0 ? edits : edits.slice(0, first);
  const delaySeconds = delays.reduce((sum, { duration }) => sum + duration, 0) / movieTimescale;
  const [edit, ...more] = first < 0 ? [] : edits.slice(first);
  if (!edit) return { shiftSeconds: delaySeconds, endSeconds: Number.POSITIVE_INFINITY };
  if (more.length > 0 || edit.rate !== NORMAL_RATE || edit.mediaTime < 0n) {
    throw new UnsupportedMp4('An edit list with several edits');
  }
  // In fragmented files the duration is that of the samples in `moov`: none.
  const isWhole = edit.duration === 0 || fragmentDefaults !== undefined;
  return {
    shiftSeconds: delaySeconds - Number(edit.mediaTime) / timescale,
    endSeconds: isWhole ? Number.POSITIVE_INFINITY : delaySeconds + edit.duration / movieTimescale,
  };
}
