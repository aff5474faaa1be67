import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamError } from '../../../core/errors/index.ts';
import {
  isSameSection,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import { initializationVector, keyUrl, knownKey, segmentUrl, type Track } from '../../../core/state/index.ts';
import type { AdaptiveParallelism, FetchScheduler, Filter } from '../buffer/index.ts';
import {
  createLengthCheck,
  createMediaCheck,
  fetchBuffer,
  RangeFetch,
  type RangeRequirement,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
  unknownEntity,
} from '../request/index.ts';
import type { TrackLocator } from '../track-locator.ts';
import { createDecrypt, KEY_BYTES } from './decrypt.ts';
import type { DiscontinuityFilter } from './discontinuity-filter.ts';

export interface SegmentSchedulerOptions extends UpstreamRequestDependencies {
  readonly locator: TrackLocator<Timeline>;
  readonly timeline: Timeline;
  /** Index of the first segment to fetch. */
  readonly from: number;
  /** Seconds before it. */
  readonly startSeconds: number;
  readonly parallelism: AdaptiveParallelism;
  /** AES-128 keys by URL, shared by all readers of a source. */
  readonly keys: Map<string, Buffer>;
  readonly rangeRequirement: RangeRequirement;
  /** Absent when timestamps and encoding are continuous throughout. */
  readonly filter: DiscontinuityFilter | undefined;
}

/** One fetch: the content of a segment, or the initialization section before it. */
interface SegmentPart {
  readonly segment: Segment;
  readonly side: 'init' | 'content';
  readonly section: MediaSection;
  /** Seconds on the timeline of the list, where timestamps may be discontinuous. */
  readonly discontinuityAt: number | undefined;
}

/** AES-128 keys that a source keeps. */
const MAX_KEYS = 256;

const isMedia = ({ isGap }: Segment): boolean => !isGap;

/** Fetches each segment, and each initialization section where it changes; reloads the list of a live source. */
export function createSegmentScheduler(options: SegmentSchedulerOptions): FetchScheduler {
  const { locator, timeline, keys, parallelism, limits, log, filter } = options;
  const closing = new AbortController();
  const filters = new WeakMap<RangeFetch, Filter>();
  // A list may have 100,000 segments: the place in it, instead of a queue of them.
  let { segments } = timeline;
  let { from: at, startSeconds } = options;
  const advance = () => {
    startSeconds += segments[at]?.seconds ?? 0;
    at += 1;
  };
  /** The next segment with media; undefined at the end of the list. */
  const nextSegment = (): Segment | undefined => {
    for (let segment = segments[at]; segment; segment = segments[at]) {
      if (isMedia(segment)) return segment;
      advance();
    }
    return undefined;
  };
  let { isComplete } = timeline;
  let lastSequence = timeline.segments.at(-1)?.sequence ?? -1;
  let currentInit: MediaSection | undefined;
  let isDiscontinuity = true;
  let pending: SegmentPart | undefined;
  let isWaiting = false;
  let onChange: (error?: Error) => void = () => undefined;

  const nextPart = (): SegmentPart | undefined => {
    const segment = nextSegment();
    if (!segment) return undefined;
    if (segment.init && !isSameSection(segment.init, currentInit)) {
      currentInit = segment.init;
      isDiscontinuity = true;
      return { segment, side: 'init', section: currentInit, discontinuityAt: undefined };
    }
    const discontinuityAt = isDiscontinuity || segment.isDiscontinuity ? startSeconds : undefined;
    isDiscontinuity = false;
    advance();
    return { segment, side: 'content', section: segment.content, discontinuityAt };
  };

  /** Uses the URL in the latest list; a segment that is no longer listed may still be available. */
  const targetOf = (
    { segment, side }: SegmentPart,
    urlOf: (section: MediaSection, track: Track) => string | undefined,
  ): UpstreamTarget => ({
    async locate(signal) {
      const { value, track, generation } = await locator.current(signal);
      const listed = segmentAt(value, segment.sequence);
      const section = (listed && isMedia(listed) ? listed : segment)[side];
      return { url: (section && urlOf(section, track)) ?? '', track, generation };
    },
    renew: ({ generation }, isGone, signal) => locator.renew(generation, isGone, signal),
    entity: unknownEntity,
    rangeRequirement: options.rangeRequirement,
  });

  /** Runs work that `next` waits for, unless some is running. */
  const startWork = (work: () => Promise<void>) => {
    if (isWaiting) return;
    isWaiting = true;
    work().then(
      () => {
        isWaiting = false;
        if (!closing.signal.aborted) onChange();
      },
      (error: Error) => {
        if (!closing.signal.aborted) onChange(error);
      },
    );
  };

  const fetchKey = async (part: SegmentPart, url: string) => {
    const target = targetOf(part, ({ cipher }, track) => cipher && keyUrl(track, cipher.keyUrl));
    const createCheck = () => createLengthCheck(KEY_BYTES);
    const { bytes } = await fetchBuffer({ ...options, target, createCheck }, KEY_BYTES, closing.signal);
    if (bytes.length !== KEY_BYTES) throw new UpstreamError(`AES-128 key of ${bytes.length} bytes`);
    // A playlist may name a key per segment. An evicted key is fetched again when it is needed again.
    for (const oldest of keys.size >= MAX_KEYS ? keys.keys().take(1) : []) keys.delete(oldest);
    keys.set(url, bytes);
  };

  const reload = createLiveReload({ ...options, signal: closing.signal }, (reloaded) => {
    const added = reloaded.segments.filter(({ sequence }) => sequence > lastSequence);
    const [first] = added;
    if (first && lastSequence >= 0 && first.sequence > lastSequence + 1)
      log.warn('Missed live segments', { count: first.sequence - lastSequence - 1 });
    lastSequence = added.at(-1)?.sequence ?? lastSequence;
    const media = added.filter(isMedia);
    if (media.length < added.length) log.warn('Gap in live stream', { segments: added.length - media.length });
    segments = [...segments.slice(at), ...added];
    at = 0;
    isComplete = reloaded.isComplete;
    // A list that only adds gaps counts as stalled.
    return media.length > 0;
  });

  const startFetch = (part: SegmentPart): RangeFetch => {
    const { range, cipher } = part.section;
    const track = locator.track();
    const key = cipher && (knownKey(track) ?? keys.get(cipher.keyUrl));
    const decryption = key && { key, iv: initializationVector(track, cipher.iv) };
    const seconds = part.side === 'content' ? part.segment.seconds : 0;
    const fetch = new RangeFetch({
      ...options,
      target: targetOf(part, ({ url }, current) => segmentUrl(current, url)),
      requested: { first: range?.first ?? 0, last: range?.last },
      bufferLimitBytes: limits.readAheadBytes / limits.maxConnections,
      createCheck: () => createMediaCheck({ seconds, cipher: decryption }),
      onBytes(count) {
        locator.progressed();
        parallelism.addBytes(count);
      },
      onOverload: parallelism.reduceToOne,
      onSettled: () => onChange(),
    });
    const steps: Filter[] = [];
    if (decryption) steps.push(createDecrypt(decryption.key, decryption.iv));
    if (filter) steps.push(part.side === 'init' ? filter.init() : filter.segment(part.discontinuityAt));
    if (steps.length > 0) filters.set(fetch, steps.reduce(chainFilters));
    return fetch;
  };

  return {
    next() {
      pending ??= nextPart();
      if (!pending) {
        if (!isComplete) startWork(reload);
        return undefined;
      }
      const part = pending;
      const url = part.section.cipher?.keyUrl;
      if (url && !keys.has(url) && !knownKey(locator.track())) {
        startWork(() => fetchKey(part, url));
        return undefined;
      }
      pending = undefined;
      return startFetch(part);
    },
    nextBytes: () => undefined,
    isDone: () => isComplete && !pending && !nextSegment(),
    onChange(listener) {
      onChange = listener;
    },
    filter: (fetch) => filters.get(fetch),
    close: () => closing.abort(new Error('Reading ended')),
  };
}

const chainFilters = (first: Filter, second: Filter): Filter => ({
  update: (chunk) => second.update(first.update(chunk)),
  final: () => Buffer.concat([second.update(first.final()), second.final()]),
});

type LiveOptions = SegmentSchedulerOptions & { readonly signal: AbortSignal };

/**
 * Creates a function that reloads a live list until it has new media or is complete (RFC 8216 §6.3.4): after its target
 * duration, or half of it when nothing was new.
 * @param add takes the reloaded list; returns whether it has new media
 */
function createLiveReload(options: LiveOptions, add: (reloaded: Timeline) => boolean): () => Promise<void> {
  const { locator, limits, now, signal } = options;
  let loadedAt = now();
  let intervalMs = options.timeline.reloadSeconds * 1000;
  return async () => {
    const startedAt = now();
    for (;;) {
      await sleep(Math.max(loadedAt + Math.max(intervalMs, limits.minReloadMs) - now(), 0), undefined, { signal });
      loadedAt = now();
      const { value } = await locator.reload(signal);
      const isNew = add(value);
      intervalMs = (value.reloadSeconds * 1000) / (isNew ? 1 : 2);
      if (isNew || value.isComplete) return;
      if (now() - startedAt > limits.liveStallTimeoutMs) throw new UpstreamError('Live stream stalled');
    }
  };
}
