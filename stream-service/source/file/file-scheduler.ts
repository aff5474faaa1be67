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
  readonly connections: AdaptiveParallelism;
  /** Offsets, both included. `last` undefined: to an end that nobody knows. */
  readonly first: number;
  readonly last: number | undefined;
  /** A part that is under way from `first` on. */
  readonly adopted: RangeFetch | undefined;
  readonly onBytes: () => void;
}

/** Cuts a file into ranges. */
export function createFileScheduler(options: FileSchedulerOptions): FetchScheduler {
  const { chunks, connections, limits, first, adopted } = options;
  const last = options.last ?? Number.POSITIVE_INFINITY;
  let cursor = first;
  /** True when nothing lies beyond what has been begun: the end itself may be unknown. */
  let isOver = first > last;
  let waiting = adopted;
  let news: () => void = () => undefined;

  const nextBytes = () =>
    connections.count === 1 ? chunks.next() : Math.min(chunks.limit(), limits.aheadBytes / limits.connections);

  const goTo = (end: number) => {
    cursor = end + 1;
    isOver = end >= last;
  };

  const start = (from: number, to: number): RangeFetch => {
    const began = performance.now();
    const restedBefore = connections.rested;
    let bytes = 0;
    return new RangeFetch({
      ...options,
      wanted: { first: from, last: Number.isFinite(to) ? to : undefined },
      audit: createMediaCheck,
      // What the pool was asked for, whatever is worth having later.
      bufferLimitBytes: connections.count === 1 ? connections.lead : limits.aheadBytes,
      // Only the last part begun may go on: what comes after an earlier one is under way already.
      onWhole() {
        if (cursor !== to + 1) return undefined;
        goTo(last);
        return last;
      },
      onBytes(count) {
        bytes += count;
        options.onBytes();
        connections.received(count);
      },
      onBusy: connections.settle,
      onSettled() {
        chunks.took(bytes, performance.now() - began - (connections.rested - restedBefore));
        news();
      },
    });
  };

  return {
    next() {
      if (waiting) {
        const part = waiting;
        waiting = undefined;
        part.limit(last);
        goTo(part.last ?? last);
        return part;
      }
      if (isOver) return undefined;
      const from = cursor;
      const to = Number.isFinite(last) ? Math.min(from + nextBytes() - 1, last) : last;
      goTo(to);
      return start(from, to);
    },
    nextBytes: () => Math.min(nextBytes(), last - cursor + 1),
    isDone: () => !waiting && isOver,
    watch(listener) {
      news = listener;
    },
    close() {
      waiting?.destroy();
      waiting = undefined;
    },
  };
}
