import { problems } from '../../../core/api/index.ts';
import {
  durationOf,
  findSegment,
  hasDiscontinuity,
  isSameMedia,
  longestGapSeconds,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import type { Track } from '../../../core/state/index.ts';
import { createAdaptiveParallelism, ReadAheadStream } from '../buffer/index.ts';
import { firstBytes } from '../first-bytes.ts';
import { createChunkSizer, type RangeNeed } from '../request/index.ts';
import type { SegmentedSource, SegmentRun } from '../source.ts';
import type { OpenRequest } from '../source-kind.ts';
import { createTrackLocator } from '../track-locator.ts';
import { createDiscontinuityFilter, type DiscontinuityFilter } from './discontinuity-filter.ts';
import type { LoadTimeline } from './load-timeline.ts';
import { createSegmentScheduler } from './segment-scheduler.ts';

/** How the list of a source is read. */
export interface TimelineSource {
  /** @throws UrlExpired when the track must be resolved again to find it */
  readonly load: LoadTimeline;
  /** The list comes with resolving: reloading it means resolving again. */
  readonly isResolved: boolean;
}

/** Segments before the newest with which a live source begins: what players keep (RFC 8216 §6.3.3). */
const LIVE_SEGMENTS = 3;

/**
 * Opens HLS or DASH by its list and the first bytes of its media.
 * @throws Problem 404, 502
 */
export async function openSegments(options: OpenRequest, list: TimelineSource): Promise<SegmentedSource> {
  const { resource, track, limits, signal } = options;
  const ranges: RangeNeed = { isKnown: false, chunks: createChunkSizer(limits, track.chunkBytes) };
  let known: Timeline | undefined;
  const load = async (at: Track, signal: AbortSignal): Promise<Timeline> => {
    const found = await list.load({ ...options, ranges, known }, at, signal);
    if (known && !isSameMedia(known, found)) throw problems.fetchFailed(new Error('The source has other media now'));
    known = found;
    return found;
  };
  const places = createTrackLocator({ ...options, renewals: limits.renewals, load, isResolved: list.isResolved });
  const keys = new Map<string, Buffer>();

  const run = (
    timeline: Timeline,
    seconds: number,
  ): SegmentRun & { readonly splice: DiscontinuityFilter | undefined } => {
    const { segments, isComplete } = timeline;
    const { index, startSeconds } = isComplete
      ? findSegment(segments, seconds)
      : { index: Math.max(segments.length - LIVE_SEGMENTS, 0), startSeconds: 0 };
    const connections = createAdaptiveParallelism(limits.connections, options.eventLoopLoad);
    const splice =
      isComplete && !hasDiscontinuity(segments) ? undefined : createDiscontinuityFilter({ onListClock: isComplete });
    const at = { places, timeline, from: index, startSeconds };
    const supply = createSegmentScheduler({ ...options, ...at, connections, keys, ranges, splice });
    const stream = new ReadAheadStream({
      supply,
      connections,
      aheadBytes: limits.aheadBytes,
      pool: options.readAheadBudget,
    });
    return { stream, startSeconds, splice };
  };

  const { value: timeline } = await places.current(signal);
  if (timeline.isComplete && timeline.segments.length === 0)
    throw problems.fetchFailed(new Error('It has no segments'));
  const gapSeconds = longestGapSeconds(timeline.segments);
  if (gapSeconds > 0) options.log.warn('The source has gaps', { resource: resource.id, longestSeconds: gapSeconds });
  let opening: ReturnType<typeof run> | undefined = run(timeline, 0);
  // Nobody listens while it waits for its reader, who finds it destroyed then.
  opening.stream.on('error', () => undefined);
  const timer = setTimeout(close, limits.holdTimeout).unref();

  function close(): void {
    clearTimeout(timer);
    opening?.stream.destroy();
    opening = undefined;
  }

  const leave = () => opening?.stream.destroy(new Error('No longer wanted', { cause: signal.reason }));
  signal.addEventListener('abort', leave, { once: true });
  try {
    await firstBytes(opening.stream);
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }

  const durationSeconds = timeline.isComplete && !timeline.isRounded ? durationOf(timeline.segments) : undefined;
  return {
    needsRemux: true,
    size: undefined,
    isSeekable: durationSeconds !== undefined,
    durationSeconds,
    gapSeconds,
    hasDiscontinuity: hasDiscontinuity(timeline.segments),
    readFrom(seconds, wanted = 'all') {
      const adopted = !timeline.isComplete || findSegment(timeline.segments, seconds).index === 0 ? opening : undefined;
      if (adopted) opening = undefined;
      close();
      const taken = adopted ?? run(known ?? timeline, seconds);
      if (taken.splice) taken.splice.wanted = wanted;
      return taken;
    },
    close,
  };
}
