import {
  type FragmentTime,
  fragmentTimes,
  fullBox,
  type InitTrack,
  indexContent,
  parseBoxes,
  patchCreationTime,
  patchHeaderDuration,
  removeDelays,
  UnsupportedMp4,
  u32,
  u64,
} from '../isobmff/index.ts';

/** What the first bytes of a segment of fragmented MP4 say of it. Times in seconds of its own clock, delays included. */
export interface SegmentFacts {
  readonly bytes: number;
  /** Decode time of the earliest track. */
  readonly start: number;
  /** Undefined: it has several fragments. */
  readonly end: number | undefined;
}

/** When the samples of a `moof` are shown, as far as decode times and delays say. */
export const shownTimes = (moof: Buffer, tracks: readonly InitTrack[]): readonly FragmentTime[] =>
  fragmentTimes(moof, tracks).map(({ id, start, end }) => {
    const delay = tracks.find((track) => track.id === id)?.delaySeconds ?? 0;
    return { id, start: start + delay, end: end + delay };
  });

/** More bytes are needed, up to an offset. */
export const MOOF_AHEAD = 'moof ahead';

/**
 * @param head the first bytes of the segment
 * @param bytes of the segment
 * @returns the bytes that are needed where `head` does not hold the first `moof`
 * @throws UnsupportedMp4 when it is no fragmented MP4 with decode times
 */
export function inspectSegment(
  head: Buffer,
  bytes: number,
  tracks: readonly InitTrack[],
): SegmentFacts | { readonly kind: typeof MOOF_AHEAD; readonly bytes: number } {
  const boxes = [...parseBoxes(head)];
  const moof = boxes.find(({ type }) => type === 'moof');
  const known = boxes.at(-1);
  if (!moof && known && known.type !== 'mdat' && known.end > head.length && known.end < bytes)
    return { kind: MOOF_AHEAD, bytes: known.end + head.length };
  if (!moof || moof.end > bytes) throw new UnsupportedMp4('A segment without moof');
  // With the header of its `mdat`.
  const neededBytes = Math.min(bytes, moof.end + 16);
  if (neededBytes > head.length) return { kind: MOOF_AHEAD, bytes: neededBytes };
  const times = shownTimes(head.subarray(moof.start, moof.end), tracks);
  if (times.length === 0) throw new UnsupportedMp4('A fragment without decode times');
  const mdat = boxes[boxes.indexOf(moof) + 1];
  const isWhole = mdat?.type === 'mdat' && mdat.end >= bytes;
  return {
    bytes,
    start: Math.min(...times.map(({ start }) => start)),
    end: isWhole ? Math.max(...times.map(({ end }) => end)) : undefined,
  };
}

/** A segment on the timeline of a window. Seconds. */
export interface PlacedSegment {
  readonly bytes: number;
  /** Added to its decode times. */
  readonly shift: number;
  readonly start: number;
  readonly end: number;
}

interface ListedSegment {
  readonly facts: SegmentFacts;
  /** As its list says. */
  readonly seconds: number;
}

/** Timestamps that continue this close to the last end are continuous: tracks of one segment end at different times. */
const TOLERANCE_SECONDS = 0.5;

/** Places segments one after another: where the clock jumps, a segment begins where the one before it ends. */
export interface Placement {
  /** What is added to the times of the next segment. @param start its decode time */
  shiftOf(start: number): number;
  add(segment: ListedSegment): PlacedSegment;
}

/**
 * What follows depends on nothing but the segments.
 * @param origin time of the first segment's clock that becomes 0
 */
export function createPlacement(origin: number): Placement {
  let shift = -origin;
  let end: number | undefined;
  let tolerance = TOLERANCE_SECONDS;
  const shiftOf = (start: number): number => {
    if (end !== undefined && Math.abs(start + shift - end) > tolerance) shift = end - start;
    return shift;
  };
  return {
    shiftOf,
    add({ facts: { bytes, start, ...facts }, seconds }) {
      shiftOf(start);
      end = (facts.end ?? start + seconds) + shift;
      // The end of several fragments is known by the list alone, whose durations are rounded.
      tolerance = facts.end === undefined ? Math.max(TOLERANCE_SECONDS, seconds / 2) : TOLERANCE_SECONDS;
      return { bytes, shift, start: start + shift, end };
    },
  };
}

export interface WindowHeaderOptions {
  readonly tracks: readonly InitTrack[];
  readonly segments: readonly PlacedSegment[];
  /** Absent: unknown. */
  readonly recordedAtMs?: number;
}

/** `starts_with_SAP` with `SAP_type` 1. */
const ACCESS_POINT = 0x9000_0000;
/** `referenced_size` of a `sidx` entry has 31 bits (ISO/IEC 14496-12 §8.16.3), `reference_count` 16. */
const MAX_REFERENCED_BYTES = 0x7fff_ffff;

/**
 * What precedes the segments in the file: the initialization section with the duration and the time of day, and a `sidx`
 * of each track with one entry for each segment: FFmpeg loses the audio after a seek where that has none. Delays are part of the
 * times of the samples.
 * @throws UnsupportedMp4 when it has no `moov`, or a segment is too large for an index
 */
export function writeWindowHeader(init: Buffer, { tracks, segments, recordedAtMs }: WindowHeaderOptions): Buffer {
  const endSeconds = segments.at(-1)?.end ?? 0;
  const kept = indexContent(init, 'file').children.filter(({ type }) => type === 'ftyp' || type === 'moov');
  const bare = Buffer.concat(kept.map(({ type, whole }) => (type === 'moov' ? removeDelays(whole) : whole)));
  const movie = patchHeaderDuration(bare, endSeconds);
  if (!movie || tracks.length === 0 || kept.at(-1)?.type !== 'moov') throw new UnsupportedMp4('No moov');
  const header = recordedAtMs === undefined ? movie : patchCreationTime(movie, recordedAtMs);
  if (segments.some(({ bytes }) => bytes > MAX_REFERENCED_BYTES)) throw new UnsupportedMp4('Segment too large');
  const sidxBytes = 40 + 12 * segments.length;
  const indexes = tracks.map(({ id, timescale }, place) => {
    const units = (seconds: number) => Math.max(0, Math.round(seconds * timescale));
    const entries = segments.map(({ bytes, start }, index) =>
      u32(bytes, units((segments[index + 1]?.start ?? endSeconds) - start), ACCESS_POINT),
    );
    const [first, later] = [u64(units(segments[0]?.start ?? 0)), u64(sidxBytes * (tracks.length - 1 - place))];
    return fullBox('sidx', 1, 0, u32(id, timescale), first, later, u32(entries.length), ...entries);
  });
  return Buffer.concat([header, ...indexes]);
}
