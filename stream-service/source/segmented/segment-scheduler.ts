import { setTimeout as sleep } from 'node:timers/promises';
import { problems } from '../../../core/api/index.ts';
import {
  isSameSection,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import type { AdaptiveParallelism, FetchScheduler, Filter } from '../buffer/index.ts';
import {
  createLengthCheck,
  createMediaCheck,
  fetchBuffer,
  RangeFetch,
  type RangeNeed,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
  unknownEntity,
} from '../request/index.ts';
import type { TrackLocator } from '../track-locator.ts';
import { createDecrypt, KEY_BYTES } from './decrypt.ts';
import type { DiscontinuityFilter } from './discontinuity-filter.ts';

export interface SegmentSchedulerOptions extends UpstreamRequestDependencies {
  readonly places: TrackLocator<Timeline>;
  readonly timeline: Timeline;
  /** Index of the first segment to give. */
  readonly from: number;
  /** Seconds before it. */
  readonly startSeconds: number;
  readonly connections: AdaptiveParallelism;
  /** Keys by URL, shared by all who read this source. */
  readonly keys: Map<string, Buffer>;
  readonly ranges: RangeNeed;
  /** Absent: what is read has one clock and one description throughout. */
  readonly splice: DiscontinuityFilter | undefined;
}

/** A segment, or the initialization section before it. */
interface Piece {
  readonly segment: Segment;
  readonly side: 'init' | 'content';
  readonly section: MediaSection;
  /** Seconds before it, where its clock may begin anew. */
  readonly place: number | undefined;
}

/** Gives each segment, and each initialization section where it changes; waits for what a live source will have. */
export function createSegmentScheduler(options: SegmentSchedulerOptions): FetchScheduler {
  const { places, timeline, keys, connections, limits, log, splice } = options;
  const ended = new AbortController();
  const filters = new WeakMap<RangeFetch, Filter>();
  const isMedia = ({ isGap }: Segment) => !isGap;
  let seconds = options.startSeconds;
  const queue: { readonly segment: Segment; readonly startSeconds: number }[] = [];
  const enqueue = (segments: readonly Segment[]) => {
    for (const segment of segments) {
      if (isMedia(segment)) queue.push({ segment, startSeconds: seconds });
      seconds += segment.seconds;
    }
  };
  enqueue(timeline.segments.slice(options.from));
  let { isComplete } = timeline;
  let init: MediaSection | undefined;
  let isAnew = true;
  let pending: Piece | undefined;
  let isBusy = false;
  let news: (error?: Error) => void = () => undefined;

  const nextPiece = (): Piece | undefined => {
    const [next] = queue;
    if (!next) return undefined;
    const { segment, startSeconds } = next;
    if (segment.init && !isSameSection(segment.init, init)) {
      init = segment.init;
      isAnew = true;
      return { segment, side: 'init', section: init, place: undefined };
    }
    queue.shift();
    const place = isAnew || segment.isDiscontinuity ? startSeconds : undefined;
    isAnew = false;
    return { segment, side: 'content', section: segment.content, place };
  };

  /** What is listed now counts; what is no longer listed may still be there. */
  const targetOf = (
    { segment, side }: Piece,
    urlOf: (section: MediaSection) => string | undefined,
  ): UpstreamTarget => ({
    async locate(signal) {
      const { value, track, generation } = await places.current(signal);
      const listed = segmentAt(value, segment.sequence);
      const section = (listed && isMedia(listed) ? listed : segment)[side];
      return { url: (section && urlOf(section)) ?? '', track, generation };
    },
    renew: ({ generation }, isGone, signal) => places.renew(generation, isGone, signal),
    entity: unknownEntity,
    ranges: options.ranges,
  });

  /** Does one thing at a time that `next` has to wait for. */
  const meanwhile = (work: () => Promise<void>) => {
    if (isBusy) return;
    isBusy = true;
    work().then(
      () => {
        isBusy = false;
        if (!ended.signal.aborted) news();
      },
      (error: Error) => {
        if (!ended.signal.aborted) news(error);
      },
    );
  };

  const fetchKey = async (piece: Piece, keyUrl: string) => {
    const target = targetOf(piece, ({ cipher }) => cipher?.keyUrl);
    const audit = () => createLengthCheck(KEY_BYTES);
    const { bytes } = await fetchBuffer({ ...options, target, audit }, KEY_BYTES, ended.signal);
    if (bytes.length !== KEY_BYTES) throw problems.fetchFailed(new Error('The key has another length'));
    keys.set(keyUrl, bytes);
  };

  const awaitMore = createLiveReload({ ...options, signal: ended.signal }, (found) => {
    const last = timelineEnd;
    const fresh = found.segments.filter(({ sequence }) => sequence > last);
    const [first] = fresh;
    if (first && last >= 0 && first.sequence > last + 1)
      log.warn('A live source went on without us', { missed: first.sequence - last - 1 });
    timelineEnd = fresh.at(-1)?.sequence ?? last;
    const media = fresh.filter(isMedia);
    if (media.length < fresh.length) log.warn('A live source has a gap', { segments: fresh.length - media.length });
    enqueue(fresh);
    isComplete = found.isComplete;
    // A source that has nothing but gaps has stopped, however often it says so.
    return media.length > 0;
  });
  let timelineEnd = timeline.segments.at(-1)?.sequence ?? -1;

  const start = (piece: Piece): RangeFetch => {
    const { range, cipher } = piece.section;
    const key = cipher && keys.get(cipher.keyUrl);
    const seconds = piece.side === 'content' ? piece.segment.seconds : 0;
    const part = new RangeFetch({
      ...options,
      target: targetOf(piece, ({ url }) => url),
      wanted: { first: range?.first ?? 0, last: range?.last },
      bufferLimitBytes: limits.aheadBytes / limits.connections,
      audit: () => createMediaCheck({ seconds, ...(key && { cipher: { key, iv: cipher.iv } }) }),
      onBytes(count) {
        places.progressed();
        connections.received(count);
      },
      onBusy: connections.settle,
      onSettled: () => news(),
    });
    const steps = [
      ...(key ? [createDecrypt(key, cipher.iv)] : []),
      ...(splice ? [piece.side === 'init' ? splice.init() : splice.segment(piece.place)] : []),
    ];
    if (steps.length > 0) filters.set(part, inTurn(steps));
    return part;
  };

  return {
    next() {
      pending ??= nextPiece();
      if (!pending) {
        if (!isComplete) meanwhile(awaitMore);
        return undefined;
      }
      const piece = pending;
      const keyUrl = piece.section.cipher?.keyUrl;
      if (keyUrl && !keys.has(keyUrl)) {
        meanwhile(() => fetchKey(piece, keyUrl));
        return undefined;
      }
      pending = undefined;
      return start(piece);
    },
    nextBytes: () => undefined,
    isDone: () => isComplete && !pending && queue.length === 0,
    watch(listener) {
      news = listener;
    },
    filter: (part) => filters.get(part),
    close: () => ended.abort(new Error('No longer read')),
  };
}

/** One filter behind the other. */
const inTurn = ([first, ...others]: readonly Filter[]): Filter =>
  others.reduce<Filter>(
    (before, after) => ({
      update: (chunk) => after.update(before.update(chunk)),
      final: () => Buffer.concat([after.update(before.final()), after.final()]),
    }),
    first as Filter,
  );

type LiveOptions = SegmentSchedulerOptions & { readonly signal: AbortSignal };

/**
 * Looks at a live list until it has more or is complete (RFC 8216 §6.3.4): after its target duration, after half of
 * that when nothing was new.
 * @param add takes what was found; true: there was something new
 */
function createLiveReload(options: LiveOptions, add: (found: Timeline) => boolean): () => Promise<void> {
  const { places, limits, now, signal } = options;
  let lookedAt = now();
  let wait = options.timeline.reloadSeconds * 1000;
  return async () => {
    const since = now();
    for (;;) {
      await sleep(Math.max(lookedAt + Math.max(wait, limits.minReload) - now(), 0), undefined, { signal });
      lookedAt = now();
      const { value } = await places.reload(signal);
      const isNew = add(value);
      wait = (value.reloadSeconds * 1000) / (isNew ? 1 : 2);
      if (isNew || value.isComplete) return;
      if (now() - since > limits.liveStall) throw problems.fetchFailed(new Error('The live source has stopped'));
    }
  };
}
