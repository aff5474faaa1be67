import { Readable } from 'node:stream';
import { ownTurn } from '@reelay/concurrency';
import { counterparts, indexContent, parseInitTracks } from '@reelay/seekable-media/isobmff';
import {
  durationOf,
  findSegment,
  hasDiscontinuity,
  isSameMedia,
  isSameSection,
  longestGapSeconds,
  type Segment,
  segmentAfterFirstMinute,
  segmentAt,
  type Timeline,
} from '@reelay/seekable-media/timeline';
import { UnsupportedRendition, UpstreamError } from '../../../core/errors/index.ts';
import { capabilitiesOf, segmentUrl, type Track } from '../../../core/state/index.ts';
import { fetchBuffer } from '../memory.ts';
import { AdaptiveParallelism } from '../read-ahead-limits.ts';
import { firstBytes, ReadAheadStream } from '../read-ahead-stream.ts';
import type { OpenRequest, SegmentedSource, SegmentRun, TrackSelection } from '../source.ts';
import { type ResolvedLocation, TrackLocator } from '../track-locator.ts';
import { ChunkSizer, type RangeRequirement } from '../upstream-request.ts';
import { createDiscontinuityFilter, type DiscontinuityFilter, isWebm, KINDS } from './discontinuity-filter.ts';
import { createFlvParts } from './flv-parts.ts';
import type { LoadTimeline } from './load-timeline.ts';
import { SegmentScheduler } from './segment-scheduler.ts';

/** Segments before the newest with which reading a live source starts (RFC 8216 §6.3.3). */
const LIVE_SEGMENTS = 3;

type OpenRun = SegmentRun & { readonly filter: DiscontinuityFilter | undefined };

/**
 * Opens HLS or DASH: loads the list and waits for the first bytes of its media, which the first reader receives.
 * @throws UpstreamError, UrlExpired, NotFound
 */
export async function openSegments(request: OpenRequest, loadTimeline: LoadTimeline): Promise<SegmentedSource> {
  const { resource, track, limits, log, signal } = request;
  const rangeRequirement: RangeRequirement = { isRequired: false, chunks: new ChunkSizer(limits, track.chunkBytes) };
  let latest: Timeline | undefined;
  const load = async (at: Track, signal: AbortSignal): Promise<Timeline> => {
    const loaded = await loadTimeline({ ...request, rangeRequirement, previous: latest }, at, signal);
    // A list of 100,000 segments takes some 30 ms to read, and what follows as long again.
    await ownTurn();
    if (latest && !isSameMedia(latest, loaded)) throw new UpstreamError('Segment list has changed');
    latest = loaded;
    return loaded;
  };
  const isResolved = capabilitiesOf(track).isListedByResolving;
  const locator = new TrackLocator({ ...request, load, isResolved });
  const keys = new Map<string, Buffer>();
  const container = { kind: undefined };

  const startRun = (timeline: Timeline, seconds: number): OpenRun => {
    const { segments, isComplete } = timeline;
    const { index, startSeconds } = isComplete
      ? findSegment(segments, seconds)
      : { index: Math.max(segments.length - LIVE_SEGMENTS, 0), startSeconds: 0 };
    const parallelism = new AdaptiveParallelism(limits.maxConnections, request.eventLoopLoad);
    const isContinuous = isComplete && !hasDiscontinuity(segments);
    const onListClock = isComplete;
    const joining = isContinuous ? undefined : createDiscontinuityFilter({ onListClock });
    const filter = track.container === 'flv' ? createFlvParts() : joining;
    const scheduler = new SegmentScheduler({
      ...request,
      timeline,
      from: index,
      startSeconds,
      locator,
      parallelism,
      keys,
      rangeRequirement,
      container,
      filter,
    });
    const { readAheadBytes } = limits;
    const stream = new ReadAheadStream({ scheduler, parallelism, readAheadBytes, budget: request.readAheadBudget });
    return { stream, startSeconds, filter };
  };

  // What resolving listed of a live stream has moved on.
  const { value: timeline } = await (isResolved && resource.isLive ? locator.reload(signal) : locator.current(signal));
  if (timeline.isComplete && timeline.segments.length === 0) throw new UpstreamError('Segment list is empty');
  const gapSeconds = longestGapSeconds(timeline.segments);
  if (gapSeconds > 0) log.warn('Gaps in segment list', { resource: resource.id, longestSeconds: gapSeconds });
  let opening: OpenRun | undefined = startRun(timeline, 0);
  // A failure before the first read must not be an unhandled 'error' event: the reader receives a destroyed stream.
  opening.stream.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  let changes: readonly TrackSelection[] = [];

  function close(): void {
    clearTimeout(timer);
    opening?.stream.destroy();
    opening = undefined;
  }

  const onAbort = () => opening?.stream.destroy(new Error('Opening aborted', { cause: signal.reason }));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    [changes] = await Promise.all([
      findChanges({ ...request, rangeRequirement }, locator, timeline),
      firstBytes(opening.stream),
      checkLaterSegment(request, locator, timeline),
    ]);
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  // Not earlier: the first segment of a live list may take longer.
  timer = setTimeout(close, limits.unreadTimeoutMs).unref();

  const durationSeconds = timeline.isComplete && !timeline.isRounded ? durationOf(timeline.segments) : undefined;
  return {
    needsRemux: true,
    size: undefined,
    isSeekable: durationSeconds !== undefined,
    durationSeconds,
    minSeconds: gapSeconds > 0 || durationSeconds === undefined ? undefined : minSecondsOf(timeline, track),
    gapSeconds,
    hasDiscontinuity: hasDiscontinuity(timeline.segments),
    readFrom(seconds, selection = 'all') {
      if (changes.includes(selection)) return { stream: failed(new UnsupportedRendition(CHANGES)), startSeconds: 0 };
      const isFromStart = !timeline.isComplete || findSegment(timeline.segments, seconds).index === 0;
      const adopted = isFromStart ? opening : undefined;
      if (adopted) opening = undefined;
      close();
      const run = adopted ?? startRun(latest ?? timeline, seconds);
      if (run.filter) run.filter.selection = selection;
      return run;
    },
    close,
  };
}

/** Durations of lists are inexact: a share of them is, in lists that are not wrong. */
const INEXACT_SHARE = 0.05;

/** Undefined where the durations are no measure: a live list does not say that it has whole seconds alone. */
function minSecondsOf({ segments }: Timeline, { window }: Track): number | undefined {
  if (window && segments.every(({ seconds }) => Number.isInteger(seconds))) return undefined;
  const longestSeconds = segments.reduce((longest, { seconds }) => Math.max(longest, seconds), 0);
  return durationOf(segments) * (1 - INEXACT_SHARE) - longestSeconds;
}

const CHANGES =
  'The encoding changes in the middle of the media, which one file cannot hold: choose another rendition.';

/** A stream that has ended with an error, before its first byte. */
function failed(error: Error): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.on('error', () => undefined);
  return stream.destroy(error);
}

/** With more initialization sections in a list, none is read ahead. */
const MAX_INITS = 16;
const MAX_INIT_BYTES = 4 * 1024 * 1024;

/**
 * Which selections of tracks change their encoding within a complete list. Its initialization sections are read ahead: what
 * one file cannot hold is refused before its first byte, instead of breaking off midway.
 */
async function findChanges(
  { rangeRequirement, ...request }: OpenRequest & { readonly rangeRequirement: RangeRequirement },
  locator: TrackLocator<Timeline>,
  { segments, isComplete }: Timeline,
): Promise<readonly TrackSelection[]> {
  const inits = isComplete ? distinctInits(segments) : [];
  if (inits.length < 2 || inits.length > MAX_INITS || inits.some(({ init }) => init?.cipher)) return [];
  const read = async ({ sequence, init }: Segment) => {
    const urlOf = ({ value, track }: ResolvedLocation<Timeline>) =>
      segmentUrl(track, (segmentAt(value, sequence)?.init ?? init)?.url ?? '');
    const target = locator.target(urlOf, { rangeRequirement });
    const { bytes } = await fetchBuffer({ ...request, target }, MAX_INIT_BYTES, request.signal, init?.range);
    const moov = indexContent(bytes, 'file').find('moov')?.whole;
    return isWebm(bytes) ? undefined : moov ? parseInitTracks(moov) : [];
  };
  const [first, ...others] = await Promise.all(inits.map(read));
  if (!first || !others.every((tracks) => tracks !== undefined)) return SELECTIONS;
  return SELECTIONS.filter((selection) => !others.every((tracks) => counterparts(first, tracks, KINDS[selection])));
}

const SELECTIONS = Object.keys(KINDS) as TrackSelection[];

/** A segment for each initialization section, up to one more than are read. */
function distinctInits(segments: readonly Segment[]): readonly Segment[] {
  const found: Segment[] = [];
  for (const segment of segments) {
    if (segment.isGap || !segment.init || isSameSection(segment.init, found.at(-1)?.init)) continue;
    if (!found.some(({ init }) => isSameSection(init, segment.init))) found.push(segment);
    // Every section is compared with all of them.
    if (found.length > MAX_INITS) break;
  }
  return found;
}

/** Checks, while the first bytes arrive, that the source serves what comes after the first minute, where that is in doubt. */
async function checkLaterSegment(
  { probes, ...request }: OpenRequest,
  locator: TrackLocator<Timeline>,
  { segments, isComplete }: Timeline,
): Promise<void> {
  const segment = isComplete ? segmentAfterFirstMinute(segments) : undefined;
  if (!probes || !segment || !probes.isProbed(segment.content.url)) return;
  await probes.check({
    ...request,
    offset: segment.content.range?.first ?? 0,
    target: locator.target(({ value, track }) => {
      const { content } = segmentAt(value, segment.sequence) ?? segment;
      return segmentUrl(track, content.url);
    }),
  });
}
