import { performance } from 'node:perf_hooks';
import { finished, Readable } from 'node:stream';
import { hasPausedReader } from '@reelay/guarded-fetch';
import { UnsupportedRendition, UpstreamError } from './errors.ts';
import type { RangeFetch } from './range-fetch.ts';

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

/**
 * Concatenates fetches into one stream, and starts the next ones before their turn. It is the outermost of four files that read a source:
 *
 * 1. `read-ahead.ts`: one stream of many fetches, and how many run at once.
 * 2. `range-fetch.ts`: one range, continued at the next byte after a failure.
 * 3. `attempts.ts`: whether and when a request is repeated, and when its URL is renewed.
 * 4. `upstream-request.ts`: one request for a range, and what its response means.
 */
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

/** Bytes per millisecond from which one connection is enough. */
const FAST_BYTES_PER_MS = 32_768;
/** Duration of a measurement: long enough to average over the gaps between range requests. */
const WINDOW_MS = 250;
/** Share of a measurement in which the client read nothing, above which the client is the bottleneck. */
const MAX_BLOCKED_SHARE = 0.2;
/** `leadBytes` before the first measurement, and while the source is the bottleneck. */
const INITIAL_LEAD_BYTES = 128 * 1024;
const LEAD_BYTES = 512 * 1024;
/** Speed-up that several connections must achieve over one, which already overlaps with its successor. */
const MIN_SPEEDUP = 1.4;

/**
 * Decides how many connections a stream reads from: one, or the maximum. Several only while the client waits for the
 * source and several are faster: the sign of a source that throttles each connection.
 */
export class AdaptiveParallelism {
  readonly #maxConnections: number;
  readonly #load: EventLoopLoad;
  #count = 1;
  #leadBytes = INITIAL_LEAD_BYTES;
  #isSettled: boolean;
  /** Bytes per millisecond of one connection. */
  #singleRate = 0;
  /** The first measurement, and the first after adding connections, includes the time before. */
  #skipMeasurement = true;
  #window: { readonly since: number; readonly blockedMs: number; bytes: number };
  #blockedSince: number | undefined;
  #blockedMsBefore = 0;

  constructor(maxConnections: number, load: EventLoopLoad) {
    this.#maxConnections = maxConnections;
    this.#load = load;
    this.#isSettled = maxConnections <= 1;
    this.#window = { since: load.now(), blockedMs: 0, bytes: 0 };
  }

  /** Connections to use now. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of the next fetch worth buffering before its turn: 0 while the source is not the bottleneck. */
  get leadBytes(): number {
    return this.#leadBytes;
  }

  /** Milliseconds so far in which the client read nothing. */
  get blockedMs(): number {
    return this.#blockedMsBefore + (this.#blockedSince === undefined ? 0 : this.#load.now() - this.#blockedSince);
  }

  /** Counts bytes received from the source. */
  addBytes(bytes: number): void {
    this.#window.bytes += bytes;
    const now = this.#load.now();
    const elapsedMs = now - this.#window.since;
    if (elapsedMs < WINDOW_MS) return;
    this.#decide(elapsedMs);
    this.#window = { since: now, blockedMs: this.blockedMs, bytes: 0 };
  }

  /** Notes that the client has stopped reading, or reads again. */
  setBlocked(isBlocked: boolean): void {
    this.#blockedMsBefore = this.blockedMs;
    this.#blockedSince = isBlocked ? this.#load.now() : undefined;
  }

  /** Uses one connection from now on: the source reported overload, or several are not faster. */
  reduceToOne(): void {
    this.#isSettled = true;
    this.#count = 1;
  }

  #decide(elapsedMs: number): void {
    const rate = this.#window.bytes / elapsedMs;
    const blockedShare = (this.blockedMs - this.#window.blockedMs) / elapsedMs;
    const isSourceBound = !this.#load.isBusy() && blockedShare <= MAX_BLOCKED_SHARE;
    this.#leadBytes = isSourceBound ? LEAD_BYTES : 0;
    if (this.#isSettled) return;
    if (!isSourceBound || (this.#count === 1 && rate > FAST_BYTES_PER_MS)) {
      this.#skipMeasurement = false;
      this.#count = 1;
    } else if (this.#skipMeasurement) this.#skipMeasurement = false;
    else if (this.#count === 1) {
      this.#singleRate = rate;
      this.#skipMeasurement = true;
      this.#count = this.#maxConnections;
    } else if (rate < this.#singleRate * MIN_SPEEDUP) this.reduceToOne();
  }
}

/** Load of this process, to tell a slow source from a process that is itself the bottleneck. */
export interface EventLoopLoad {
  /** Milliseconds on a monotonic clock. */
  now(): number;
  /** Whether the event loop has been almost permanently busy of late. */
  isBusy(): boolean;
}

/** Event loop utilization above which the process is the bottleneck. */
const BUSY_UTILIZATION = 0.9;

/** Measures the event loop of this process. One instance serves all streams. */
export function createEventLoopLoad(): EventLoopLoad {
  const now = () => performance.now();
  let before = performance.eventLoopUtilization();
  let measuredAt = now();
  let isBusy = false;
  return {
    now,
    isBusy() {
      if (now() - measuredAt >= WINDOW_MS) {
        isBusy = performance.eventLoopUtilization(before).utilization > BUSY_UTILIZATION;
        before = performance.eventLoopUtilization();
        measuredAt = now();
      }
      return isBusy;
    },
  };
}

/** Memory for reading ahead, shared by all streams of a process: many slow clients must not each fill their buffers. */
export interface ReadAheadBudget {
  /** Reserves bytes. Returns false when there is not enough budget: the stream then does not read ahead. */
  tryReserve(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * Creates the function that returns the budget of a client. One client may reserve half of `totalBytes`.
 * @param totalBytes of all clients
 */
export function createReadAheadBudgets(totalBytes: number): (client: string) => ReadAheadBudget {
  const maxBytesPerClient = totalBytes / 2;
  const reserved = new Map<string, number>();
  let freeBytes = totalBytes;

  return (client) => ({
    tryReserve(bytes) {
      const own = (reserved.get(client) ?? 0) + bytes;
      if (bytes > freeBytes || own > maxBytesPerClient) return false;
      freeBytes -= bytes;
      reserved.set(client, own);
      return true;
    },
    release(bytes) {
      freeBytes += bytes;
      const left = (reserved.get(client) ?? 0) - bytes;
      if (left > 0) reserved.set(client, left);
      else reserved.delete(client);
    },
  });
}
