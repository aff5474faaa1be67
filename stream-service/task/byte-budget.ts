import type { Log } from '../../core/log/index.ts';
import { periodStart } from '../../core/spending/index.ts';
import type { State } from '../../core/state/index.ts';
import { createStreamCounter, type StreamObserver } from '../sessions/index.ts';

interface ByteBudgetOptions {
  readonly state: Pick<State, 'addStreamBytes' | 'getCostGuard'>;
  /** Bytes that all tasks may send in a day (UTC) unless the cost guard allows fewer. Absent: the guard alone decides. */
  readonly bytesADay: number | undefined;
  /** Ends running streams and refuses new ones, until it is called with `undefined`. */
  readonly suspend: (reason: string | undefined) => void;
  readonly log: Log;
  /** Milliseconds between two checks of the bytes sent. @default 1000 */
  readonly intervalMs?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** Counts the bytes of all streams of this process, in the table together with those of other tasks. */
interface ByteBudget extends Pick<StreamObserver, 'onStreamStart'> {
  close(): void;
}

/** Bytes and time after which the bytes are added to the table. Less would make the writes a larger part of the costs. */
const REPORTED_BYTES = 32 * 1024 * 1024;
const REPORT_INTERVAL_MS = 30_000;
/** Bytes that may be sent while the table does not answer. */
const MAX_UNREPORTED_BYTES = 512 * 1024 * 1024;
const INTERVAL_MS = 1_000;

/**
 * Suspends streams once those of the day reach their limit, or the cost guard has closed the edge, whose responses under way it
 * cannot end. It asks again every half minute, so that streams resume when the day has ended or the guard allows more.
 */
export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const { state, bytesADay, suspend, log, intervalMs = INTERVAL_MS, now = Date.now } = options;
  const streams = createStreamCounter();
  /** Bytes that are in the table, or that were sent before their stream began. */
  let reportedBytes = 0;
  let reportedAt = now();
  let isReporting = false;
  let reason: string | undefined;

  const unreported = () => streams.bytes() - reportedBytes;
  const apply = (next: string | undefined) => {
    if (next === reason) return;
    if (next === undefined) log.info('Streams resumed');
    else log.warn('Streams suspended', { reason: next });
    reason = next;
    suspend(next);
  };
  const report = async () => {
    const bytes = unreported();
    // Before the bytes are added: if this failed afterwards, they would be added again.
    const record = await state.getCostGuard();
    const sum = bytesADay === undefined ? 0 : await state.addStreamBytes(bytes);
    reportedBytes += bytes;
    const seconds = Math.floor(now() / 1000);
    const allowed = record.streams?.since === periodStart('day', seconds) ? record.streams.bytes : bytesADay;
    const isSpent = bytesADay !== undefined && allowed !== undefined && sum >= allowed;
    const isClosed = (record.closedUntil ?? 0) > seconds;
    apply(isSpent || isClosed ? 'The spending limit of this instance is reached' : undefined);
  };
  const check = async () => {
    const bytes = unreported();
    const isDue =
      now() - reportedAt >= REPORT_INTERVAL_MS && (bytes > 0 || streams.running() > 0 || reason !== undefined);
    if (isReporting || (!isDue && bytes < REPORTED_BYTES)) return;
    isReporting = true;
    reportedAt = now();
    try {
      await report();
    } catch (error) {
      log.warn('Failed to count the bytes of streams', { error });
      if (bytesADay !== undefined && unreported() > MAX_UNREPORTED_BYTES)
        apply('The bytes of streams cannot be counted');
    } finally {
      isReporting = false;
    }
  };
  const timer = setInterval(() => void check(), intervalMs).unref();

  return {
    onStreamStart(bytesSent) {
      reportedBytes += bytesSent();
      return streams.onStreamStart(bytesSent);
    },
    close: () => clearInterval(timer),
  };
}
