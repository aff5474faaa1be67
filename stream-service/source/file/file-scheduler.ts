import type { AttemptOptions } from '../attempts.ts';
import { createMediaCheck } from '../completeness.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { ChunkSizer } from '../range-plan.ts';
import type { AdaptiveParallelism } from '../read-ahead-limits.ts';
import type { FetchScheduler } from '../read-ahead-stream.ts';

export interface FileSchedulerOptions extends AttemptOptions {
  readonly chunks: ChunkSizer;
  readonly parallelism: AdaptiveParallelism;
  /** Offsets, both included. `last` infinite: to the end, at an unknown offset. */
  readonly first: number;
  readonly last: number;
  /** A fetch that was started at `first` when opening. */
  readonly adopted: RangeFetch | undefined;
  /** Called for each chunk received. */
  readonly onBytes: () => void;
}

/** Divides a file into range requests. */
export class FileScheduler implements FetchScheduler {
  readonly #options: FileSchedulerOptions;
  #adopted: RangeFetch | undefined;
  /** Offset of the next fetch. */
  #cursor: number;
  /** Every byte belongs to a fetch that has started. Not derived from the cursor: the end may be unknown. */
  #isDone: boolean;
  #onChange: () => void = () => undefined;

  constructor(options: FileSchedulerOptions) {
    this.#options = options;
    this.#adopted = options.adopted;
    this.#cursor = options.first;
    this.#isDone = options.first > options.last;
  }

  next(): RangeFetch | undefined {
    const { last } = this.#options;
    const adopted = this.#adopted;
    if (adopted) {
      this.#adopted = undefined;
      adopted.truncate(last);
      this.#advanceTo(adopted.last ?? last);
      return adopted;
    }
    if (this.#isDone) return undefined;
    const first = this.#cursor;
    this.#advanceTo(Number.isFinite(last) ? Math.min(first + this.#chunkBytes() - 1, last) : last);
    return this.#startFetch(first, this.#cursor - 1);
  }

  nextBytes(): number {
    return Math.min(this.#chunkBytes(), this.#options.last - this.#cursor + 1);
  }

  isDone(): boolean {
    return !this.#adopted && this.#isDone;
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  close(): void {
    this.#adopted?.destroy();
    this.#adopted = undefined;
  }

  /** A reader that leaves early has not cost much more than it got: as many bytes again as were requested before. */
  #chunkBytes(): number {
    const { chunks, parallelism, limits, first } = this.#options;
    const bytes = parallelism.count === 1 ? chunks.next : limits.readAheadBytes / limits.maxConnections;
    return Math.min(bytes, chunks.limit, Math.max(this.#cursor - first, limits.firstChunkBytes));
  }

  #advanceTo(end: number): void {
    this.#cursor = end + 1;
    this.#isDone = end >= this.#options.last;
  }

  #startFetch(first: number, last: number): RangeFetch {
    const { chunks, parallelism, limits } = this.#options;
    const startedAt = performance.now();
    const blockedMsBefore = parallelism.blockedMs;
    let bytes = 0;
    return new RangeFetch({
      ...this.#options,
      requested: { first, last: Number.isFinite(last) ? last : undefined },
      createCheck: createMediaCheck,
      // As many as were reserved in the budget, even when the lead changes later.
      bufferLimitBytes: parallelism.count === 1 ? parallelism.leadBytes : limits.readAheadBytes,
      onFullResponse: () => {
        // Only the latest fetch may continue past its range: the bytes after earlier ones are being fetched already.
        if (this.#cursor !== last + 1) return undefined;
        this.#advanceTo(this.#options.last);
        return this.#options.last;
      },
      onBytes: (count) => {
        bytes += count;
        this.#options.onBytes();
        parallelism.addBytes(count);
      },
      onOverload: () => parallelism.reduceToOne(),
      onSettled: () => {
        chunks.addTiming(bytes, performance.now() - startedAt - (parallelism.blockedMs - blockedMsBefore));
        this.#onChange();
      },
    });
  }
}
