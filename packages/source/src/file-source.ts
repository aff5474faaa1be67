import type { PredictedRange } from '@reelay/seekable-media/http';
import type { AttemptOptions } from './attempts.ts';
import { probeOffset } from './availability-probe.ts';
import { createMediaCheck } from './completeness.ts';
import { UpstreamError } from './errors.ts';
import { RangeFetch } from './range-fetch.ts';
import { AdaptiveParallelism, type FetchScheduler, ReadAheadStream } from './read-ahead.ts';
import type { FileSource, OpenRequest } from './source.ts';
import { TrackLocator } from './track-locator.ts';
import { ChunkSizer, RangeRefused, type UpstreamTarget, unknownEntity } from './upstream-request.ts';

/** Bytes buffered while the opening fetch waits for its reader, in addition to the socket's own buffer. */
const OPENING_BUFFER_BYTES = 64 * 1024;

/**
 * Opens a direct file by fetching bytes that the reader will probably want: no HEAD request, and no probing except of hosts
 * that are known to stop after the first minute.
 * @throws UpstreamError, UrlExpired, and what `renew` of the track throws
 */
export async function openFile(request: OpenRequest): Promise<FileSource> {
  const { limits, eventLoopLoad, readAheadBudget: budget } = request;
  const locator = new TrackLocator({ ...request, load: async () => undefined });
  const chunks = new ChunkSizer(limits, request.track.chunkBytes);
  const target = locator.target({ chunks });
  const onBytes = () => locator.addProgress();

  let opening: OpeningFetch | undefined = await openChecked({ ...request, target, onBytes });
  const { size, etag, lastModified } = target.entity;
  const validator = etag ?? lastModified ?? (await findOwnValidator(request, target, opening));
  const timer = setTimeout(close, limits.unreadTimeoutMs).unref();

  function close(): void {
    clearTimeout(timer);
    opening?.fetch.destroy();
    opening = undefined;
  }

  /** The opening fetch, for a reader that starts at the same offset. */
  const adopt = (first: number): RangeFetch | undefined => {
    const fetch = opening?.first === first ? opening.fetch : undefined;
    if (fetch) opening = undefined;
    close();
    return fetch;
  };

  return {
    needsRemux: false,
    size,
    validator,
    read(first, last = Number.POSITIVE_INFINITY) {
      const parallelism = new AdaptiveParallelism(size === undefined ? 1 : limits.maxConnections, eventLoopLoad);
      const scheduler = new FileScheduler({
        ...request,
        target,
        chunks,
        parallelism,
        first,
        onBytes,
        last: size === undefined ? Number.POSITIVE_INFINITY : Math.min(last, size - 1),
        adopted: adopt(first),
      });
      return new ReadAheadStream({ scheduler, parallelism, readAheadBytes: limits.readAheadBytes, budget });
    },
    close,
  };
}

/** @throws what reading throws: the opening fetch has ended then */
async function findOwnValidator(
  { ownValidators, ...request }: OpenRequest,
  target: UpstreamTarget,
  { fetch, isRangeless }: OpeningFetch,
): Promise<string | undefined> {
  if (target.entity.size === undefined) return undefined;
  try {
    return await ownValidators.find(request, target, isRangeless);
  } catch (error) {
    fetch.destroy();
    throw error;
  }
}

type OpenOptions = OpenRequest & { readonly target: UpstreamTarget; readonly onBytes: () => void };

interface OpeningFetch {
  readonly first: number;
  readonly fetch: RangeFetch;
  /** The source has sent the whole file. */
  readonly isRangeless: boolean;
}

/** Opens, and at the same time checks that the source serves what comes later, where that is in doubt. */
async function openChecked(options: OpenOptions): Promise<OpeningFetch> {
  const { probes, range, target, track } = options;
  if (!probes?.isProbed(track.url)) return openFrom(options);

  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const opening = openFrom({ ...options, signal });
  const check = async () => {
    // Only an exact size tells an offset within the file.
    if (!track.sizeIsExact) await opening;
    const offset = probeOffset(track, track.sizeIsExact ? track.sizeBytes : target.entity.size);
    if (offset === undefined || offset <= range.first) return;
    const { url } = await target.locate(signal);
    await probes.check({ ...options, offset, signal });
    await opening;
    // The opening fetch may have renewed the URL. One that the check itself has renewed is not read again.
    if ((await target.locate(signal)).url !== url) await probes.check({ ...options, offset, signal });
  };
  try {
    const [opened] = await Promise.all([opening, check()]);
    return opened;
  } catch (error) {
    failed.abort(error);
    opening.then(
      ({ fetch }) => fetch.destroy(),
      () => undefined,
    );
    throw error;
  }
}

/** Opens at the predicted offset. Where that lies beyond the end, or cannot be requested, opens at 0. */
async function openFrom(options: OpenOptions): Promise<OpeningFetch> {
  const { range, target } = options;
  if (range.first === 0) return openAt(range, options);
  try {
    const opening = await openAt(range, options);
    if (target.entity.size !== undefined) return opening;
    opening.fetch.destroy();
  } catch (error) {
    if (!(error instanceof RangeRefused)) throw error;
  }
  target.entity = unknownEntity;
  return openAt({ first: 0 }, options);
}

async function openAt(
  { first, last = Number.POSITIVE_INFINITY }: PredictedRange,
  options: OpenOptions,
): Promise<OpeningFetch> {
  const { signal, target, limits } = options;
  signal.throwIfAborted();
  const bytes = Math.min(target.chunks?.next ?? 1, limits.firstChunkBytes);
  let isRangeless = false;
  const fetch = new RangeFetch({
    ...options,
    requested: { first, last: Math.min(last, first + bytes - 1) },
    bufferLimitBytes: OPENING_BUFFER_BYTES,
    onFullResponse() {
      isRangeless = true;
      return Number.POSITIVE_INFINITY;
    },
    createCheck: createMediaCheck,
  });
  const onAbort = () => fetch.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await fetch.firstByte;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  if (target.entity.size === 0) throw new UpstreamError('Upstream file is empty');
  return { first, fetch, isRangeless };
}

interface FileSchedulerOptions extends AttemptOptions {
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
class FileScheduler implements FetchScheduler {
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
