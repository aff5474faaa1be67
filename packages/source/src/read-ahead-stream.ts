import { finished, Readable } from 'node:stream';
import { hasPausedReader } from '@reelay/guarded-fetch';
import { UnsupportedRendition, UpstreamError } from './errors.ts';
import type { RangeFetch } from './range-fetch.ts';
import type { AdaptiveParallelism, ReadAheadBudget } from './read-ahead-limits.ts';

/** Divides a source into consecutive fetches. */
export interface FetchScheduler {
  /** Starts the next fetch; undefined: there is none at present. */
  next(): RangeFetch | undefined;
  /** Bytes of the next fetch, at most. Absent: they are unknown. */
  nextBytes?(): number;
  /** True when there will be no further fetch. */
  isDone(): boolean;
  /** Sets the listener to call when `next` or `isDone` may have changed, or with an error. */
  onChange(listener: (error?: Error) => void): void;
  /** The filter for the bytes of a fetch. */
  filter?(fetch: RangeFetch): Filter | undefined;
  close(): void;
}

/** Transforms the bytes of one fetch. */
export interface Filter {
  /** @throws when the bytes are malformed */
  update(chunk: Buffer): Buffer;
  /** The remaining output. @throws when the bytes end prematurely */
  final(): Buffer;
}

export interface ReadAheadOptions {
  readonly scheduler: FetchScheduler;
  readonly parallelism: AdaptiveParallelism;
  /** Bytes buffered ahead of the reader, at most. */
  readonly readAheadBytes: number;
  readonly budget: ReadAheadBudget;
}

/** Bytes; the excess stays in the buffers of the fetches. */
const HIGH_WATER_MARK = 64 * 1024;

/** Concatenates fetches into one stream, and starts the next ones before their turn. */
export class ReadAheadStream extends Readable {
  readonly #scheduler: FetchScheduler;
  readonly #parallelism: AdaptiveParallelism;
  readonly #readAheadBytes: number;
  readonly #budget: ReadAheadBudget;
  /** Bytes of the budget that each fetch ahead of its turn has reserved. */
  readonly #reserved = new Map<RangeFetch, number>();
  /** Started, in order. */
  readonly #fetches: RangeFetch[] = [];
  /** The fetch whose bytes are being read: the first one, once attached. */
  #current: RangeFetch | undefined;
  #filter: Filter | undefined;
  /** The reader wants more bytes. */
  #isReading = false;

  constructor({ scheduler, parallelism, readAheadBytes, budget }: ReadAheadOptions) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#scheduler = scheduler;
    this.#parallelism = parallelism;
    this.#readAheadBytes = readAheadBytes;
    this.#budget = budget;
    scheduler.onChange((error) => {
      if (error) this.destroy(error);
      else this.#advance();
    });
  }

  override _read(): void {
    if (this.#isReading) return;
    if (hasPausedReader(this)) {
      this.push('');
      return;
    }
    this.#isReading = true;
    this.#parallelism.setBlocked(false);
    if (this.#current) this.#current.resume();
    this.#advance();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const fetch of this.#fetches) {
      fetch.destroy();
      this.#release(fetch);
    }
    this.#fetches.length = 0;
    this.#current = undefined;
    this.#scheduler.close();
    callback(error);
  }

  /** Starts as many fetches as allowed, and attaches the first one. */
  #advance(): void {
    if (this.destroyed || !this.#isReading) return;
    while (this.#mayStart() && this.#start());
    const [first] = this.#fetches;
    if (!first) {
      if (this.#scheduler.isDone()) this.push(null);
    } else if (first !== this.#current) this.#attach(first);
  }

  /** Called for each chunk: a single connection, the common case, allocates nothing. */
  #mayStart(): boolean {
    const [first] = this.#fetches;
    if (!first) return true;
    const { count, leadBytes } = this.#parallelism;
    if (count === 1) return this.#fetches.length === 1 && first.remainingBytes <= leadBytes;
    const running = this.#fetches.reduce((sum, { isRunning }) => sum + Number(isRunning), 0);
    if (running >= count) return false;
    const buffered = this.#fetches.reduce(
      (sum, { maxBufferedBytes }, index) => sum + (index === 0 ? 0 : maxBufferedBytes),
      0,
    );
    return buffered + this.#nextBytes() <= this.#readAheadBytes;
  }

  #nextBytes(): number {
    return this.#scheduler.nextBytes?.() ?? this.#readAheadBytes / this.#parallelism.count;
  }

  /** Starts the next fetch. Returns false when there is none at present, or no budget for it. */
  #start(): boolean {
    const isAhead = this.#fetches.length > 0;
    const bytes = isAhead ? (this.#parallelism.count === 1 ? this.#parallelism.leadBytes : this.#nextBytes()) : 0;
    if (bytes > 0 && !this.#budget.tryReserve(bytes)) return false;
    const fetch = this.#scheduler.next();
    if (!fetch) this.#budget.release(bytes);
    else {
      this.#fetches.push(fetch);
      this.#reserved.set(fetch, bytes);
    }
    return fetch !== undefined;
  }

  #release(fetch: RangeFetch): void {
    this.#budget.release(this.#reserved.get(fetch) ?? 0);
    this.#reserved.delete(fetch);
  }

  #attach(fetch: RangeFetch): void {
    this.#current = fetch;
    this.#filter = this.#scheduler.filter?.(fetch);
    fetch.attach({
      data: (chunk) => this.#pushChunk(chunk),
      end: () => this.#finish(fetch),
      fail: (error) => this.destroy(error),
    });
  }

  /** Returns whether the reader wants more. */
  #pushChunk(bytes: Buffer): boolean {
    let chunk: Buffer;
    try {
      chunk = this.#filter ? this.#filter.update(bytes) : bytes;
    } catch (error) {
      this.destroy(malformed(error));
      return false;
    }
    // A filter may retain bytes. Pushing an empty chunk would not count as data.
    if (chunk.length > 0 && (!this.push(chunk) || hasPausedReader(this))) {
      this.#isReading = false;
      this.#parallelism.setBlocked(true);
    } else this.#advance();
    return this.#isReading && !this.destroyed;
  }

  #finish(fetch: RangeFetch): void {
    this.#fetches.splice(this.#fetches.indexOf(fetch), 1);
    this.#release(fetch);
    if (this.#current === fetch) this.#current = undefined;
    try {
      const rest = this.#filter?.final();
      if (rest?.length) this.#isReading = this.push(rest) && !hasPausedReader(this);
    } catch (error) {
      this.destroy(malformed(error));
      return;
    }
    this.#filter = undefined;
    this.#advance();
    // The end is signalled even while the reader is paused: it needs no room in the buffer.
    if (!this.#isReading && this.#fetches.length === 0 && this.#scheduler.isDone()) this.push(null);
  }
}

/** What a filter throws: a wrong key, bad padding, a damaged box; or that the media are not handled. */
const malformed = (error: unknown): Error =>
  error instanceof UpstreamError || error instanceof UnsupportedRendition
    ? error
    : new UpstreamError('Malformed media', { cause: error });

/**
 * Waits until a stream has buffered its first bytes, without consuming them.
 * @throws the error of the stream when it fails before; UpstreamError when it ends without a byte
 */
export async function firstBytes(stream: Readable): Promise<void> {
  if (!(await hasBytes(stream))) throw new UpstreamError('Stream ended before its first byte');
}

/** Waits for bytes to read, or for the end. Returns whether there are bytes. @throws the error of the stream */
export async function hasBytes(stream: Readable): Promise<boolean> {
  // Buffered data first: 'readable' may have fired already, for another listener.
  if (stream.readableLength > 0 && !stream.destroyed) return true;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const onReadable = () => {
    if (stream.readableLength > 0) resolve(true);
    else stream.read(); // A stream ends only after a read that found no more bytes.
  };
  const stop = finished(stream, { writable: false }, (error) => (error ? reject(error) : resolve(false)));
  stream.on('readable', onReadable);
  try {
    return await promise;
  } finally {
    stream.off('readable', onReadable);
    stop();
  }
}
