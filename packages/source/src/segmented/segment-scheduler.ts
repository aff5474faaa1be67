import { setTimeout as sleep } from 'node:timers/promises';
import type { SegmentKind } from '@reelay/seekable-media/segment-checks/segment-check';
import { isSameSection, type MediaSection, type Segment, type Timeline } from '@reelay/seekable-media/timeline';
import { createMediaCheck, type MediaCheck } from '../completeness.ts';
import { UpstreamError } from '../errors.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { AdaptiveParallelism, FetchScheduler, Filter } from '../read-ahead.ts';
import type { UpstreamRequestDependencies } from '../upstream-request.ts';
import type { DiscontinuityFilter } from './discontinuity-filter.ts';
import type { OpenList } from './load-timeline.ts';
import { checksOf, decipherOf, type SegmentKeys, type Side, sectionTarget } from './segment-keys.ts';

export interface SegmentSchedulerOptions extends UpstreamRequestDependencies, OpenList {
  /** Index of the first segment to fetch. */
  readonly from: number;
  readonly parallelism: AdaptiveParallelism;
  readonly keys: SegmentKeys;
  /** What its segments are, once one was read; shared by all readers of a source. */
  readonly container: { kind: SegmentKind | undefined };
  /** Absent when timestamps and encoding are continuous throughout. */
  readonly filter: DiscontinuityFilter | undefined;
}

/** One fetch: the content of a segment, or the initialization section before it. */
interface SegmentPart {
  readonly segment: Segment;
  readonly side: Side;
  readonly section: MediaSection;
  /** Seconds on the timeline of the list, where timestamps may be discontinuous. */
  readonly discontinuityAt: number | undefined;
}

/** A fetch with its latest check. The promise resolves when it has settled. */
interface Fetched extends Omit<PromiseWithResolvers<void>, 'reject'> {
  check: MediaCheck | undefined;
}

/** Fetches each segment, and each initialization section where it changes; reloads the list of a live source. */
export class SegmentScheduler implements FetchScheduler {
  readonly #options: SegmentSchedulerOptions;
  readonly #closing = new AbortController();
  readonly #filters = new WeakMap<RangeFetch, Filter>();
  // A list may have 100,000 segments: the place in it, instead of a queue of them.
  #segments: readonly Segment[];
  #at: number;
  #startSeconds = 0;
  #isComplete: boolean;
  #lastSequence: number;
  #currentInit: MediaSection | undefined;
  /** The fetch of `#currentInit`, by whose tracks segments are checked. */
  #init: Fetched | undefined;
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
    const { keys } = this.#options;
    if (part.section.cipher && !keys.known(part.section)) {
      this.#startWork(() => keys.read(part.segment, part.side, this.#closing.signal));
      return undefined;
    }
    this.#pending = undefined;
    return this.#startFetch(part);
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
      if (!segment.isGap) return segment;
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

  #startFetch(part: SegmentPart): RangeFetch {
    const { locator, limits, parallelism, keys, filter, container } = this.#options;
    const { range } = part.section;
    const decryption = keys.known(part.section);
    const isInit = part.side === 'init';
    const fetched: Fetched = { check: undefined, ...Promise.withResolvers<void>() };
    const init = isInit ? undefined : this.#init;
    if (isInit) this.#init = fetched;
    const checks = {
      ...checksOf(this.#options, part.segment, part.side, decryption),
      isLast: this.isDone(),
      expected: () => container.kind,
      tracks: () => init?.check?.tracks,
    };
    const fetch = new RangeFetch({
      ...this.#options,
      target: sectionTarget(this.#options, part.segment, part.side),
      requested: { first: range?.first ?? 0, last: range?.last },
      bufferLimitBytes: limits.readAheadBytes / limits.maxConnections,
      createSegmentCheck() {
        fetched.check = createMediaCheck(checks);
        return fetched.check;
      },
      ...(init && { beforeVerdict: init.promise }),
      onBytes: (count) => {
        locator.addProgress();
        parallelism.addBytes(count);
      },
      onOverload: () => parallelism.reduceToOne(),
      onSettled: () => {
        if (fetched.check?.isAccepted) container.kind ??= fetched.check.kind;
        fetched.resolve();
        this.#onChange();
      },
    });
    const steps: Filter[] = [];
    if (decryption) steps.push(decipherOf(decryption));
    if (!isInit) steps.push(createHeadFilter(() => fetched.check?.foreignBytes ?? 0));
    if (filter) steps.push(isInit ? filter.init() : filter.segment(part.discontinuityAt));
    if (steps.length > 0) this.#filters.set(fetch, steps.reduce(chainFilters));
    return fetch;
  }

  /** Runs work that `next` waits for, unless some is running. */
  #startWork(work: () => Promise<unknown>): void {
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

/** Leaves out a picture in front of the media, which FFmpeg would take for them. It is known before any of them is passed on. */
function createHeadFilter(foreignBytes: () => number): Filter {
  let seenBytes = 0;
  return {
    update(chunk) {
      const rest = chunk.subarray(Math.max(0, foreignBytes() - seenBytes));
      seenBytes += chunk.length;
      return rest;
    },
    final: () => Buffer.alloc(0),
  };
}

const chainFilters = (first: Filter, second: Filter): Filter => ({
  update: (chunk) => second.update(first.update(chunk)),
  final: () => Buffer.concat([second.update(first.final()), second.final()]),
});
