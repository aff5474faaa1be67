import type { AdaptiveParallelism, FetchScheduler } from '../buffer/index.ts';
import {
  type ChunkSizer,
  createMediaCheck,
  RangeFetch,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
} from '../request/index.ts';

export interface FileSchedulerOptions extends UpstreamRequestDependencies {
  readonly target: UpstreamTarget;
  readonly chunks: ChunkSizer;
  readonly parallelism: AdaptiveParallelism;
  /** Offsets, both included. `last` undefined: to the end, at an unknown offset. */
  readonly first: number;
  readonly last: number | undefined;
  /** A fetch that was started at `first` when opening. */
  readonly adopted: RangeFetch | undefined;
  /** Called for each chunk received. */
  readonly onBytes: () => void;
}

/** Divides a file into range requests. */
export function createFileScheduler(options: FileSchedulerOptions): FetchScheduler {
  const { chunks, parallelism, limits, first, adopted } = options;
  const last = options.last ?? Number.POSITIVE_INFINITY;
  /** Offset of the next fetch. */
  let cursor = first;
  /** Every byte belongs to a fetch that has started. Not derived from `cursor`: the end may be unknown. */
  let isDone = first > last;
  let waiting = adopted;
  let onChange: () => void = () => undefined;

  /** A reader that leaves early has not cost much more than it got: as many bytes again as were requested before. */
  const nextBytes = () => {
    const bytes = parallelism.count === 1 ? chunks.next() : limits.readAheadBytes / limits.maxConnections;
    return Math.min(bytes, chunks.limit(), Math.max(cursor - first, limits.firstChunkBytes));
  };

  const advanceTo = (end: number) => {
    cursor = end + 1;
    isDone = end >= last;
  };

  const startFetch = (from: number, to: number): RangeFetch => {
    const startedAt = performance.now();
    const blockedMsBefore = parallelism.blockedMs;
    let bytes = 0;
    return new RangeFetch({
      ...options,
      requested: { first: from, last: Number.isFinite(to) ? to : undefined },
      createCheck: createMediaCheck,
      // As many as were reserved in the budget, even when the lead changes later.
      bufferLimitBytes: parallelism.count === 1 ? parallelism.leadBytes : limits.readAheadBytes,
      // Only the latest fetch may continue past its range: the bytes after earlier ones are being fetched already.
      onFullResponse() {
        if (cursor !== to + 1) return undefined;
        advanceTo(last);
        return last;
      },
      onBytes(count) {
        bytes += count;
        options.onBytes();
        parallelism.addBytes(count);
      },
      onOverload: parallelism.reduceToOne,
      onSettled() {
        chunks.took(bytes, performance.now() - startedAt - (parallelism.blockedMs - blockedMsBefore));
        onChange();
      },
    });
  };

  return {
    next() {
      if (waiting) {
        const fetch = waiting;
        waiting = undefined;
        fetch.truncate(last);
        advanceTo(fetch.last ?? last);
        return fetch;
      }
      if (isDone) return undefined;
      const from = cursor;
      const to = Number.isFinite(last) ? Math.min(from + nextBytes() - 1, last) : last;
      advanceTo(to);
      return startFetch(from, to);
    },
    nextBytes: () => Math.min(nextBytes(), last - cursor + 1),
    isDone: () => !waiting && isDone,
    onChange(listener) {
      onChange = listener;
    },
    close() {
      waiting?.destroy();
      waiting = undefined;
    },
  };
}
