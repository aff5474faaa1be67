import { UnsupportedMp4 } from '../isobmff/index.ts';

/** A media segment of a playlist: consecutive bytes of a file. */
export interface Segment {
  readonly offset: number;
  readonly bytes: number;
  readonly durationSeconds: number;
}

/** Segments are about this long: shorter ones cost requests, longer ones delay the start and a change of position. */
const MAX_SEGMENT_SECONDS = 6.5;
/** `starts_with_SAP` of a `sidx` entry (ISO/IEC 14496-12 §8.16.3). */
const STARTS_WITH_SAP = 0x8000_0000;

/** A playlist is written for each request: it has at most as many segments as 36 hours. */
const MAX_SEGMENTS = 20_000;

/** A subsegment of a file. */
interface Timed {
  readonly bytes: number;
  /** Units. */
  readonly duration: number;
  /** `starts_with_SAP`, `SAP_type` and `SAP_delta_time` of a `sidx`. */
  readonly accessPoint: number;
}

/** Whether every segment that `groupFragments` makes can be decoded by itself. */
export const areIndependent = (fragments: readonly Timed[]): boolean =>
  fragments[0] !== undefined && startsWithSync(fragments[0]);

/**
 * Joins fragments that follow each other to segments, each of which begins with a sync sample where fragments say so.
 * @param offset of the first fragment in the file
 * @param timescale units per second
 * @throws UnsupportedMp4 when there are too many
 */
export function groupFragments(fragments: readonly Timed[], offset: number, timescale: number): readonly Segment[] {
  const mayCut = areIndependent(fragments) ? startsWithSync : () => true;
  const segments: { offset: number; bytes: number; durationSeconds: number }[] = [];
  let at = offset;
  for (const fragment of fragments) {
    const durationSeconds = fragment.duration / timescale;
    const last = segments.at(-1);
    if (last && !(mayCut(fragment) && last.durationSeconds + durationSeconds > MAX_SEGMENT_SECONDS)) {
      last.bytes += fragment.bytes;
      last.durationSeconds += durationSeconds;
    } else segments.push({ offset: at, bytes: fragment.bytes, durationSeconds });
    if (segments.length > MAX_SEGMENTS) throw new UnsupportedMp4('Too many segments');
    at += fragment.bytes;
  }
  return segments;
}

const startsWithSync = ({ accessPoint }: Timed): boolean => accessPoint >= STARTS_WITH_SAP;

/** Bits per second. */
export interface Bandwidth {
  readonly peak: number;
  readonly average: number;
}

/** Segments of one window: those of a playlist are not much shorter than its target duration. */
const MAX_WINDOW = 16;

/**
 * The rates of a media playlist. `peak` is the largest of any consecutive segments that last between half and one and a
 * half target durations (RFC 8216 §4.1).
 * @param targetSeconds `EXT-X-TARGETDURATION`
 */
export function bandwidthOf(segments: readonly Segment[], targetSeconds: number): Bandwidth {
  const rate = (bytes: number, seconds: number) => (seconds > 0 ? Math.ceil((bytes * 8) / seconds) : 0);
  let peak = 0;
  for (let first = 0; first < segments.length; first += 1) {
    let [bytes, seconds] = [0, 0];
    for (const segment of segments.slice(first, first + MAX_WINDOW)) {
      bytes += segment.bytes;
      seconds += segment.durationSeconds;
      if (seconds > targetSeconds * 1.5) break;
      if (seconds >= targetSeconds * 0.5) peak = Math.max(peak, rate(bytes, seconds));
    }
  }
  const [bytes, seconds] = segments.reduce(
    ([allBytes, allSeconds], segment) => [allBytes + segment.bytes, allSeconds + segment.durationSeconds],
    [0, 0],
  );
  const average = rate(bytes, seconds);
  return { peak: Math.max(peak, average), average };
}
