import { performance } from 'node:perf_hooks';

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
