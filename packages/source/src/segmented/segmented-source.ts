import { Readable } from 'node:stream';
import { counterparts, indexContent, parseInitTracks } from '@reelay/seekable-media/isobmff';
import {
  durationOf,
  hasDiscontinuity,
  isSameSection,
  longestGapSeconds,
  type Segment,
  segmentAfterFirstMinute,
  type Timeline,
} from '@reelay/seekable-media/timeline';
import { UnsupportedRendition, UpstreamError } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import { AdaptiveParallelism, firstBytes, ReadAheadStream } from '../read-ahead.ts';
import type { OpenRequest, SegmentedSource, TrackSelection } from '../source.ts';
import type { SourceTrack } from '../track.ts';
import { createDiscontinuityFilter, type DiscontinuityFilter, HANDLER_TYPES, isWebm } from './discontinuity-filter.ts';
import { createFlvParts } from './flv-parts.ts';
import { type ListRequest, type OpenList, openList } from './load-timeline.ts';
import { createSegmentKeys, sectionTarget } from './segment-keys.ts';
import { SegmentScheduler } from './segment-scheduler.ts';

/** Segments before the newest with which reading a live source starts (RFC 8216 §6.3.3). */
const LIVE_SEGMENTS = 3;

interface OpenRun {
  readonly stream: Readable;
  readonly filter: DiscontinuityFilter | undefined;
}

/**
 * Opens HLS or DASH: loads the list and waits for the first bytes of its media, which the first reader receives.
 * @throws UpstreamError, UrlExpired, and what `renew` of the track throws
 */
export async function openSegments(request: ListRequest): Promise<SegmentedSource> {
  const { track, limits, log, signal } = request;
  const list = await openList(request, { isLatest: track.isLive });
  const { locator, timeline } = list;
  const keys = createSegmentKeys(request, list);
  const container = { kind: undefined };

  const startRun = (timeline: Timeline): OpenRun => {
    const { segments, isComplete } = timeline;
    const parallelism = new AdaptiveParallelism(limits.maxConnections, request.eventLoopLoad);
    const isContinuous = isComplete && !hasDiscontinuity(segments);
    const joining = isContinuous ? undefined : createDiscontinuityFilter();
    const filter = track.container === 'flv' ? createFlvParts() : joining;
    const scheduler = new SegmentScheduler({
      ...request,
      ...list,
      timeline,
      from: isComplete ? 0 : Math.max(segments.length - LIVE_SEGMENTS, 0),
      parallelism,
      keys,
      container,
      filter,
    });
    const { readAheadBytes } = limits;
    const stream = new ReadAheadStream({ scheduler, parallelism, readAheadBytes, budget: request.readAheadBudget });
    return { stream, filter };
  };

  if (timeline.isComplete && timeline.segments.length === 0) throw new UpstreamError('Segment list is empty');
  const gapSeconds = longestGapSeconds(timeline.segments);
  if (gapSeconds > 0) log.warn('Gaps in segment list', { track: track.id, longestSeconds: gapSeconds });
  let opening: OpenRun | undefined = startRun(timeline);
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
      findChanges(request, list),
      firstBytes(opening.stream),
      checkLaterSegment(request, list),
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
    durationSeconds,
    minSeconds: gapSeconds > 0 || !timeline.isComplete ? undefined : minSecondsOf(timeline, track),
    gapSeconds,
    hasDiscontinuity: hasDiscontinuity(timeline.segments),
    readAll(selection = 'all') {
      if (changes.includes(selection)) return failed(new UnsupportedRendition(CHANGES));
      const { stream, filter } = opening ?? startRun(locator.value ?? timeline);
      opening = undefined;
      close();
      if (filter) filter.selection = selection;
      return stream;
    },
    close,
  };
}

/** Durations of lists are inexact: a share of them is, in lists that are not wrong. */
const INEXACT_SHARE = 0.05;

/** A duration in whole seconds may be longer than the media by half a second; of older lists, by more. */
const ROUNDED_SECONDS = 0.5;

/** Undefined where the durations are no measure: a live list does not say that it has whole seconds alone. */
function minSecondsOf({ segments, isRounded }: Timeline, { isLive }: SourceTrack): number | undefined {
  if (isLive && segments.every(({ seconds }) => Number.isInteger(seconds))) return undefined;
  const longestSeconds = segments.reduce((longest, { seconds }) => Math.max(longest, seconds), 0);
  const exactSeconds = durationOf(segments) - (isRounded ? ROUNDED_SECONDS * segments.length : 0);
  return exactSeconds * (1 - INEXACT_SHARE) - longestSeconds;
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
async function findChanges(request: OpenRequest, list: OpenList): Promise<readonly TrackSelection[]> {
  const { segments, isComplete } = list.timeline;
  const inits = isComplete ? distinctInits(segments) : [];
  if (inits.length < 2 || inits.length > MAX_INITS || inits.some(({ init }) => init?.cipher)) return [];
  const read = async (segment: Segment) => {
    const target = sectionTarget(list, segment, 'init');
    const { bytes } = await fetchBuffer({ ...request, target }, MAX_INIT_BYTES, request.signal, segment.init?.range);
    const moov = indexContent(bytes, 'file').find('moov')?.whole;
    return isWebm(bytes) ? undefined : moov ? parseInitTracks(moov) : [];
  };
  const [first, ...others] = await Promise.all(inits.map(read));
  if (!first || !others.every((tracks) => tracks !== undefined)) return SELECTIONS;
  return SELECTIONS.filter(
    (selection) => !others.every((tracks) => counterparts(first, tracks, HANDLER_TYPES[selection])),
  );
}

const SELECTIONS = Object.keys(HANDLER_TYPES) as TrackSelection[];

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
async function checkLaterSegment({ probes, ...request }: OpenRequest, list: OpenList): Promise<void> {
  const { segments, isComplete } = list.timeline;
  const segment = isComplete ? segmentAfterFirstMinute(segments) : undefined;
  if (!probes || !segment || !probes.isProbed(segment.content.url)) return;
  await probes.check({
    ...request,
    offset: segment.content.range?.first ?? 0,
    target: sectionTarget(list, segment, 'content'),
  });
}
