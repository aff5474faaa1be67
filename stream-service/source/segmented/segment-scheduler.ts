import { createDecipheriv } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SegmentKind } from '@reelay/seekable-media/frames';
import { isSameSection, type MediaSection, type Segment, type Timeline } from '@reelay/seekable-media/timeline';
import { UpstreamError } from '../../../core/errors/index.ts';
import { initializationVector, keyUrl, knownKey, segmentUrl, type Track } from '../../../core/state/index.ts';
import { createMediaCheck, type MediaCheck } from '../completeness.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { AdaptiveParallelism } from '../read-ahead-limits.ts';
import type { FetchScheduler, Filter } from '../read-ahead-stream.ts';
import type { TrackLocator } from '../track-locator.ts';
import type { RangeRequirement, UpstreamRequestDependencies, UpstreamTarget } from '../upstream-request.ts';
import type { DiscontinuityFilter } from './discontinuity-filter.ts';
import { fetchKey, sectionTarget } from './segment-fetch.ts';

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
  /** What its segments are, once one was read; shared by all readers of a source. */
  readonly container: { kind: SegmentKind | undefined };
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
export class SegmentScheduler implements FetchScheduler {
  readonly #options: SegmentSchedulerOptions;
  readonly #closing = new AbortController();
  readonly #filters = new WeakMap<RangeFetch, Filter>();
  // A list may have 100,000 segments: the place in it, instead of a queue of them.
  #segments: readonly Segment[];
  #at: number;
  #startSeconds: number;
  #isComplete: boolean;
  #lastSequence: number;
  #currentInit: MediaSection | undefined;
  #isDiscontinuity = true;
  #pending: SegmentPart | undefined;
  /** Work is running that `next` waits for. */
  #isWaiting = false;
  #loadedAt: number;
  #reloadMs: number;
  #onChange: (error?: Error) => void = () => undefined;

  constructor(options: SegmentSchedulerOptions) {
    const { timeline } = options;
    this.#options = options;
    this.#segments = timeline.segments;
    this.#at = options.from;
    this.#startSeconds = options.startSeconds;
    this.#isComplete = timeline.isComplete;
    this.#lastSequence = timeline.segments.at(-1)?.sequence ?? -1;
    this.#loadedAt = options.now();
    this.#reloadMs = timeline.reloadSeconds * 1000;
  }

  next(): RangeFetch | undefined {
    this.#pending ??= this.#nextPart();
    const part = this.#pending;
    if (!part) {
      if (!this.#isComplete) this.#startWork(() => this.#reload());
      return undefined;
    }
    const { keys, locator } = this.#options;
    const url = part.section.cipher?.keyUrl;
    if (url && !keys.has(url) && !knownKey(locator.track)) {
      this.#startWork(() => this.#fetchKey(part, url));
      return undefined;
    }
    this.#pending = undefined;
    return this.#startFetch(part);
  }

  nextBytes(): undefined {
    return undefined;
  }

  isDone(): boolean {
    return this.#isComplete && !this.#pending && !this.#nextSegment();
  }

  onChange(listener: (error?: Error) => void): void {
    this.#onChange = listener;
  }

  filter(fetch: RangeFetch): Filter | undefined {
    return this.#filters.get(fetch);
  }

  close(): void {
    this.#closing.abort(new Error('Reading ended'));
  }

  /** The next segment with media; undefined at the end of the list. */
  #nextSegment(): Segment | undefined {
    for (let segment = this.#segments[this.#at]; segment; segment = this.#segments[this.#at]) {
      if (isMedia(segment)) return segment;
      this.#advance();
    }
    return undefined;
  }

  #advance(): void {
    this.#startSeconds += this.#segments[this.#at]?.seconds ?? 0;
    this.#at += 1;
  }

  #nextPart(): SegmentPart | undefined {
    const segment = this.#nextSegment();
    if (!segment) return undefined;
    if (segment.init && !isSameSection(segment.init, this.#currentInit)) {
      this.#currentInit = segment.init;
      this.#isDiscontinuity = true;
      return { segment, side: 'init', section: segment.init, discontinuityAt: undefined };
    }
    const discontinuityAt = this.#isDiscontinuity || segment.isDiscontinuity ? this.#startSeconds : undefined;
    this.#isDiscontinuity = false;
    this.#advance();
    return { segment, side: 'content', section: segment.content, discontinuityAt };
  }

  /** Uses the URL in the latest list; a segment that is no longer listed may still be available. */
  #targetOf(
    { segment, side }: SegmentPart,
    urlOf: (section: MediaSection, track: Track) => string | undefined,
  ): UpstreamTarget {
    const { locator, rangeRequirement } = this.#options;
    return sectionTarget(locator, segment, side, urlOf, { rangeRequirement });
  }

  #startFetch(part: SegmentPart): RangeFetch {
    const { locator, limits, parallelism, keys, filter, container, timeline } = this.#options;
    const { range, cipher } = part.section;
    const { track } = locator;
    const key = cipher && (knownKey(track) ?? keys.get(cipher.keyUrl));
    const decryption = key && { key, iv: initializationVector(track, cipher.iv) };
    const seconds = part.side === 'content' && !timeline.isRounded ? part.segment.seconds : 0;
    const expected = () => container.kind;
    const checks = { seconds, cipher: decryption, isSegment: true, isPart: range !== undefined, expected };
    let check: MediaCheck | undefined;
    const fetch = new RangeFetch({
      ...this.#options,
      target: this.#targetOf(part, ({ url }, current) => segmentUrl(current, url)),
      requested: { first: range?.first ?? 0, last: range?.last },
      bufferLimitBytes: limits.readAheadBytes / limits.maxConnections,
      createSegmentCheck() {
        check = createMediaCheck(checks);
        return check;
      },
      onBytes: (count) => {
        locator.addProgress();
        parallelism.addBytes(count);
      },
      onOverload: () => parallelism.reduceToOne(),
      onSettled: () => {
        if (check?.isAccepted) container.kind ??= check.kind;
        this.#onChange();
      },
    });
    const steps: Filter[] = [];
    if (decryption) steps.push(createDecryption(decryption));
    if (filter) steps.push(part.side === 'init' ? filter.init() : filter.segment(part.discontinuityAt, part.segment));
    if (steps.length > 0) this.#filters.set(fetch, steps.reduce(chainFilters));
    return fetch;
  }

  /** Runs work that `next` waits for, unless some is running. */
  #startWork(work: () => Promise<void>): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const { signal } = this.#closing;
    work().then(
      () => {
        this.#isWaiting = false;
        if (!signal.aborted) this.#onChange();
      },
      (error: Error) => {
        if (!signal.aborted) this.#onChange(error);
      },
    );
  }

  async #fetchKey(part: SegmentPart, url: string): Promise<void> {
    const { keys } = this.#options;
    const target = this.#targetOf(part, ({ cipher }, track) => cipher && keyUrl(track, cipher.keyUrl));
    const bytes = await fetchKey({ ...this.#options, target }, this.#closing.signal);
    // A playlist may name a key per segment. An evicted key is fetched again when it is needed again.
    for (const oldest of keys.size >= MAX_KEYS ? keys.keys().take(1) : []) keys.delete(oldest);
    keys.set(url, bytes);
  }

  /**
   * Reloads a live list until it has new media or is complete (RFC 8216 §6.3.4): after its target duration, or half of it
   * when nothing was new. A list that only adds gaps counts as stalled.
   */
  async #reload(): Promise<void> {
    const { locator, limits, now } = this.#options;
    const { signal } = this.#closing;
    const startedAt = now();
    for (;;) {
      const delayMs = this.#loadedAt + Math.max(this.#reloadMs, limits.minReloadMs) - now();
      await sleep(Math.max(delayMs, 0), undefined, { signal });
      this.#loadedAt = now();
      const { value } = await locator.reload(signal);
      const isNew = this.#addSegments(value);
      this.#reloadMs = (value.reloadSeconds * 1000) / (isNew ? 1 : 2);
      if (isNew || value.isComplete) return;
      if (now() - startedAt > limits.liveStallTimeoutMs) throw new UpstreamError('Live stream stalled');
    }
  }

  /** Takes a reloaded list. Returns whether it has new media. */
  #addSegments({ segments, isComplete }: Timeline): boolean {
    const { log } = this.#options;
    // The encoder has restarted. Edges of a delivery network differ by less than a list.
    const [oldest] = segments;
    if (oldest && oldest.sequence + 2 * segments.length <= this.#lastSequence) {
      log.warn('The live playlist has restarted');
      this.#lastSequence = oldest.sequence - 1;
      this.#isDiscontinuity = true;
    }
    const added = segments.filter(({ sequence }) => sequence > this.#lastSequence);
    const missed = this.#lastSequence < 0 ? 0 : (added[0]?.sequence ?? 0) - this.#lastSequence - 1;
    if (missed > 0) log.warn('Missed live segments', { count: missed });
    this.#lastSequence = added.at(-1)?.sequence ?? this.#lastSequence;
    const gaps = added.filter(({ isGap }) => isGap).length;
    if (gaps > 0) log.warn('Gap in live stream', { segments: gaps });
    this.#segments = [...this.#segments.slice(this.#at), ...added];
    this.#at = 0;
    this.#isComplete = isComplete;
    return added.length > gaps;
  }
}

/**
 * Decrypts one segment as its bytes arrive (RFC 8216 §4.3.2.4: AES-128, CBC, PKCS7 padding).
 * `final` throws on invalid padding: a wrong key, or a truncated segment.
 */
function createDecryption({ key, iv }: { readonly key: Buffer; readonly iv: Buffer }): Filter {
  const decipher = createDecipheriv('aes-128-cbc', key, iv);
  return { update: (chunk) => decipher.update(chunk), final: () => decipher.final() };
}

const chainFilters = (first: Filter, second: Filter): Filter => ({
  update: (chunk) => second.update(first.update(chunk)),
  final: () => Buffer.concat([second.update(first.final()), second.final()]),
});
