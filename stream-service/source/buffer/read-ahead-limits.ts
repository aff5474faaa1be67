import { performance } from 'node:perf_hooks';

/**
 * Decides how many connections a stream reads from: one, or the maximum. Several only while the client waits for the
 * source and several are faster: the sign of a source that throttles each connection.
 */
export interface AdaptiveParallelism {
  /** Connections to use now. */
  readonly count: number;
  /** Bytes of the next fetch worth buffering before its turn: 0 while the source is not the bottleneck. */
  readonly leadBytes: number;
  /** Milliseconds so far in which the client read nothing. */
  readonly blockedMs: number;
  /** Counts bytes received from the source. */
  addBytes(bytes: number): void;
  /** Notes that the client has stopped reading, or reads again. */
  setBlocked(isBlocked: boolean): void;
  /** Uses one connection from now on: the source reported overload. */
  reduceToOne(): void;
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

export function createAdaptiveParallelism(maxConnections: number, { now, isBusy }: EventLoopLoad): AdaptiveParallelism {
  let count = 1;
  let isSettled = maxConnections <= 1;
  /** Bytes per millisecond of one connection. */
  let singleRate = 0;
  /** The first measurement, and the first after adding connections, includes the time before. */
  let skipMeasurement = true;
  let window = { since: now(), bytes: 0, blockedMs: 0 };
  let blockedSince: number | undefined;
  let blockedMsBefore = 0;
  let leadBytes = INITIAL_LEAD_BYTES;

  const setCount = (next: number) => {
    skipMeasurement = next > count;
    count = next;
  };

  const blockedMs = () => blockedMsBefore + (blockedSince === undefined ? 0 : now() - blockedSince);

  const decide = (elapsedMs: number) => {
    const rate = window.bytes / elapsedMs;
    const isSourceBound = !isBusy() && (blockedMs() - window.blockedMs) / elapsedMs <= MAX_BLOCKED_SHARE;
    leadBytes = isSourceBound ? LEAD_BYTES : 0;
    if (isSettled) return;
    if (!isSourceBound || (count === 1 && rate > FAST_BYTES_PER_MS)) setCount(1);
    else if (skipMeasurement) skipMeasurement = false;
    else if (count === 1) {
      singleRate = rate;
      setCount(maxConnections);
    } else if (rate < singleRate * MIN_SPEEDUP) {
      isSettled = true;
      setCount(1);
    }
  };

  return {
    get count() {
      return count;
    },
    get leadBytes() {
      return leadBytes;
    },
    get blockedMs() {
      return blockedMs();
    },
    addBytes(bytes) {
      window.bytes += bytes;
      const at = now();
      const elapsedMs = at - window.since;
      if (elapsedMs < WINDOW_MS) return;
      decide(elapsedMs);
      window = { since: at, bytes: 0, blockedMs: blockedMs() };
    },
    setBlocked(isBlocked) {
      blockedMsBefore = blockedMs();
      blockedSince = isBlocked ? now() : undefined;
    },
    reduceToOne() {
      isSettled = true;
      count = 1;
    },
  };
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
