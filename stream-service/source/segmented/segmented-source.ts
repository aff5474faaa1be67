import { problems } from '../../../core/api/index.ts';
import { UrlExpired } from '../../../core/errors/index.ts';
import { dashTimeline } from '../../../core/media/dash/index.ts';
import { parseHlsPlaylist } from '../../../core/media/hls/index.ts';
import {
  durationOf,
  findSegment,
  hasDiscontinuity,
  isSameMedia,
  longestGapSeconds,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import {
  createAdaptiveParallelism,
  type EventLoopLoad,
  type ReadAheadBudget,
  ReadAheadStream,
} from '../buffer/index.ts';
import { firstBytes } from '../first-bytes.ts';
import {
  createChunkSizer,
  createPlaylistCheck,
  fetchBuffer,
  type RangeNeed,
  type UpstreamRequestDependencies,
  unknownEntity,
} from '../request/index.ts';
import type { SegmentedSource, SegmentRun } from '../source.ts';
import { createTrackLocator } from '../track-locator.ts';
import { createDiscontinuityFilter, type DiscontinuityFilter } from './discontinuity-filter.ts';
import { createSegmentScheduler } from './segment-scheduler.ts';

export interface SegmentedSourceOptions extends UpstreamRequestDependencies {
  readonly resource: Resource;
  readonly track: Track;
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  readonly renewals: number;
  readonly pool: ReadAheadBudget;
  readonly gauge: EventLoopLoad;
  readonly signal: AbortSignal;
}

/** Segments before the newest with which a live source begins: what players keep (RFC 8216 §6.3.3). */
const LIVE_SEGMENTS = 3;

/**
 * Opens HLS or DASH by its list and the first bytes of its media.
 * @throws Problem 404, 502
 */
export async function openSegments(options: SegmentedSourceOptions): Promise<SegmentedSource> {
  const { resource, track, limits, pool, signal } = options;
  const isHls = track.delivery === 'hls';
  const ranges: RangeNeed = { isKnown: false, chunks: createChunkSizer(limits, track.chunkBytes) };
  let known: Timeline | undefined;
  const load = async (at: Track, signal: AbortSignal): Promise<Timeline> => {
    const found = isHls ? await readHls({ ...options, ranges }, at, signal) : readDash(at, resource.isLive, known);
    if (known && !isSameMedia(known, found)) throw problems.fetchFailed(new Error('The source has other media now'));
    known = found;
    return found;
  };
  const places = createTrackLocator({ ...options, load, isResolved: !isHls });
  const keys = new Map<string, Buffer>();

  const run = (
    timeline: Timeline,
    seconds: number,
  ): SegmentRun & { readonly splice: DiscontinuityFilter | undefined } => {
    const { segments, isComplete } = timeline;
    const { index, startSeconds } = isComplete
      ? findSegment(segments, seconds)
      : { index: Math.max(segments.length - LIVE_SEGMENTS, 0), startSeconds: 0 };
    const connections = createAdaptiveParallelism(limits.connections, options.gauge);
    const splice =
      isComplete && !hasDiscontinuity(segments) ? undefined : createDiscontinuityFilter({ onListClock: isComplete });
    const at = { places, timeline, from: index, startSeconds };
    const supply = createSegmentScheduler({ ...options, ...at, connections, keys, ranges, splice });
    const stream = new ReadAheadStream({ supply, connections, aheadBytes: limits.aheadBytes, pool });
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

  return {
    kind: 'segments',
    gapSeconds,
    beginsAnew: hasDiscontinuity(timeline.segments),
    durationSeconds: timeline.isComplete && !timeline.isRounded ? durationOf(timeline.segments) : undefined,
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

/** @throws Problem 502, Expired */
async function readHls(
  options: UpstreamRequestDependencies & { readonly ranges: RangeNeed },
  track: Track,
  signal: AbortSignal,
): Promise<Timeline> {
  const { limits, ranges } = options;
  let url = track.url;
  // A master names media playlists, and nothing deeper.
  for (let depth = 0; depth < 2; depth++) {
    const location = { url, track, generation: 0 };
    const target = {
      locate: async () => location,
      renew: async (_: unknown, isGone: boolean) => {
        throw new UrlExpired(isGone);
      },
      entity: unknownEntity,
      ranges,
    };
    const found = await fetchBuffer({ ...options, target, audit: createPlaylistCheck }, limits.playlistBytes, signal);
    try {
      const playlist = parseHlsPlaylist(found.bytes.toString('utf8'), { url: found.url, maxSegments: limits.segments });
      if (playlist.kind === 'media') return playlist.timeline;
      url = playlist.bestUrl;
    } catch (error) {
      throw problems.fetchFailed(error);
    }
  }
  throw problems.fetchFailed(new Error('The playlist names no media playlist'));
}

/** @throws Expired when the list was too long to keep, or the manifest has none any more */
function readDash({ fragments }: Track, isLive: boolean, before: Timeline | undefined): Timeline {
  if (!fragments || fragments.length === 0) throw new UrlExpired(false);
  return dashTimeline(fragments, isLive, before);
}
