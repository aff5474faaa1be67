import type { Segment } from './segments.ts';

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
