import { type Fetch, isOnline, type Sleep, sleep, untilStreamable, type Waiting } from '../api/index.ts';
import { createSubject, type Observable } from '../lib/index.ts';
import { discardsPartialFile, isRetryable, toDownloadFailure } from './download-failure.ts';
import { type DownloadState, INITIAL_STATE } from './download-state.ts';
import type { DownloadRecord } from './journal.ts';
import type { Sink } from './sink.ts';
import type { OpenSink } from './sinks.ts';
import { createSpeedMeter } from './speed-meter.ts';
import { openStorageSink, type StorageSink } from './storage-sink.ts';
import { createTransfer, type Transfer } from './transfer.ts';
import { createZipProgress, type ZipProgress } from './zip-progress.ts';

export type { DownloadFailure, DownloadFailureKind, DownloadState } from './download-state.ts';

export interface DownloadOptions {
  readonly url: string;
  readonly fileName: string;
  /** Expected size; the response replaces it. */
  readonly expectedBytes?: number;
  /** Of the list whose archive it is: the entries in it are counted. */
  readonly entryCount?: number;
  readonly openSink: OpenSink;
  /** @default a new one */
  readonly id?: string;
  /** Continues a download of an earlier page. */
  readonly resumeFrom?: DownloadRecord;
  readonly fetch?: Fetch;
  /** Delay between attempts; rejects with the signal's reason. */
  readonly sleep?: Sleep;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** A connection without data for this long is closed and retried. @default 60000 */
  readonly stallTimeoutMs?: number;
}

export interface Download {
  /** Unique in this browser. */
  readonly id: string;
  readonly fileName: string;
  readonly state: Observable<DownloadState>;
  /** What the next page needs to continue it; undefined before its URL is known and after it has ended. */
  record(): DownloadRecord | undefined;
  /** Call it in a click handler. Settles in a final phase; never rejects. */
  start(): Promise<void>;
  pause(): void;
  /** Continues after a pause, or retries a failure where `canRetry`. */
  resume(): void;
  /** Completes the file with what was received, where `canStopAndSave`. */
  stopAndSave(): void;
  cancel(): void;
}

/** Minimum time between two progress updates. */
const UPDATE_INTERVAL_MS = 100;

/** A download that resumes at the exact byte after connection loss, where the stream supports ranges. */
export function createDownload(options: DownloadOptions): Download {
  const { url, fileName, expectedBytes, entryCount, openSink, resumeFrom, now = () => performance.now() } = options;
  const archive = entryCount ? createZipProgress(entryCount) : undefined;
  const state = createSubject<DownloadState>({
    ...INITIAL_STATE,
    ...(expectedBytes !== undefined && { totalBytes: expectedBytes, isEstimate: true }),
    ...(resumeFrom && restoredState(resumeFrom)),
  });
  const id = options.id ?? resumeFrom?.id ?? newId();
  const meter = createSpeedMeter();
  let cancelled = new AbortController();
  let transfer: Transfer | undefined;
  let sink: Sink | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;

  const show = (phase: DownloadState['phase'], more: Partial<DownloadState> = {}) => {
    const receivedBytes = transfer?.receivedBytes ?? 0;
    const { totalBytes, isEstimate } = expectation(transfer, expectedBytes, receivedBytes, phase);
    const bytesPerSecond = phase === 'running' ? meter.bytesPerSecond(now()) : 0;
    const left = totalBytes !== undefined && bytesPerSecond > 0 ? (totalBytes - receivedBytes) / bytesPerSecond : 0;
    shownAt = now();
    state.set({
      phase,
      receivedBytes,
      totalBytes,
      ...(archive && totalBytes === undefined && { entries: { done: archive.doneEntries, count: entryCount ?? 0 } }),
      isEstimate,
      bytesPerSecond,
      ...(left > 0 && { secondsLeft: Math.ceil(left) }),
      canResume: transfer?.canResume ?? false,
      // A part of an archive cannot be opened.
      canStopAndSave: receivedBytes > 0 && totalBytes === undefined && !archive,
      canRetry: false,
      isHandedOver: false,
      ...more,
    });
  };
  const isPaused = () => state.get().phase === 'paused';
  const isDue = () => now() - shownAt >= UPDATE_INTERVAL_MS;
  /** Updates progress, also of a stalled connection. */
  const refresh = () => {
    if (state.get().phase === 'running' && isDue()) show('running');
  };
  const showWaiting = (waiting?: Waiting) => {
    meter.reset();
    if (!isPaused()) show('waiting', waiting && { waiting });
  };

  /** The parts of an earlier page. */
  const reopen = async (): Promise<StorageSink | undefined> =>
    resumeFrom?.isStored ? openStorageSink(fileName, 0, id) : undefined;

  const open = async (): Promise<Transfer | undefined> => {
    const place = (await reopen()) ?? (await openSink(fileName, expectedBytes, id));
    if (place.kind === 'browser') {
      // The browser would navigate to an error response.
      await untilStreamable(url, { ...options, signal: cancelled.signal, onWaiting: showWaiting });
      cancelled.signal.throwIfAborted();
      place.start(url);
      show('done', { isHandedOver: true });
      return undefined;
    }
    sink = place;
    const saved = 'savedBytes' in place ? (place as StorageSink).savedBytes : 0;
    const entity = resumeFrom?.entity;
    return createTransfer({
      ...options,
      sink: archive ? countingSink(place, archive) : place,
      resumeFrom: entity && saved > 0 ? { receivedBytes: saved, entity } : undefined,
      fetch: options.fetch ?? ((to, init) => fetch(to, init)),
      sleep: options.sleep ?? sleepUntilOnline,
      stallTimeoutMs: options.stallTimeoutMs ?? 60_000,
      onWaiting: showWaiting,
      onBytes(bytes) {
        meter.add(bytes, now());
        const isNews = state.get().phase !== 'running' || isDue();
        if (isNews && !isPaused()) show('running');
      },
    });
  };

  const discard = async () => {
    const left = sink;
    sink = undefined;
    transfer = undefined;
    // `sweepStorage` removes at page start what cannot be removed now.
    await left?.abort().catch(() => undefined);
  };

  const fail = async (error: unknown) => {
    const failure = toDownloadFailure(error);
    if (discardsPartialFile(failure)) await discard();
    show('failed', { failure, canRetry: isRetryable(failure) });
  };

  const run = async () => {
    showWaiting();
    const clock = setInterval(refresh, UPDATE_INTERVAL_MS);
    try {
      transfer ??= await open();
      if (!transfer) return;
      cancelled.signal.throwIfAborted();
      await transfer.run(cancelled.signal);
      sink = undefined;
      show('done');
    } catch (error) {
      const isDismissed = error instanceof DOMException && error.name === 'AbortError';
      if (!cancelled.signal.aborted && !isDismissed) return fail(error);
      await discard();
      show('cancelled', { isDismissed: isDismissed && !cancelled.signal.aborted });
    } finally {
      clearInterval(clock);
    }
  };

  let running: Promise<void> | undefined;
  const begin = () => {
    running = run().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    fileName,
    state,
    id,
    record() {
      const { phase, canRetry } = state.get();
      if (phase === 'done' || phase === 'cancelled' || (phase === 'failed' && !canRetry)) return undefined;
      const isPaused = phase === 'paused';
      if (resumeFrom && !transfer) return { ...resumeFrom, isPaused };
      const isStored = sink?.kind === 'storage';
      const isQueued = phase === 'ready';
      const { receivedBytes, entity } = transfer ?? {};
      return { id, url, fileName, expectedBytes, entryCount, isQueued, isStored, receivedBytes, entity, isPaused };
    },
    async start() {
      await (state.get().phase === 'ready' ? begin() : running);
    },
    pause() {
      const { phase } = state.get();
      if (!transfer || (phase !== 'running' && phase !== 'waiting')) return;
      transfer.pause();
      show('paused');
    },
    resume() {
      const { phase, canRetry } = state.get();
      if (phase === 'paused' && !running) {
        void begin();
      } else if (phase === 'paused') {
        meter.reset();
        show('waiting');
        transfer?.resume();
      } else if (phase === 'failed' && canRetry) {
        cancelled = new AbortController();
        void begin();
      }
    },
    stopAndSave() {
      if (!state.get().canStopAndSave) return;
      transfer?.finish();
      if (!running) void begin();
    },
    cancel() {
      const { phase } = state.get();
      if (phase === 'done' || phase === 'cancelled') return;
      cancelled.abort(new DOMException('Cancelled', 'AbortError'));
      if (running) return;
      void discard();
      show('cancelled');
    },
  };
}

const countingSink = (sink: Sink, archive: ZipProgress): Sink => ({
  ...sink,
  async write(bytes) {
    await sink.write(bytes);
    archive.add(bytes);
  },
  async restart() {
    await sink.restart();
    archive.reset();
  },
});

function expectation(
  transfer: Transfer | undefined,
  expectedBytes: number | undefined,
  receivedBytes: number,
  phase: DownloadState['phase'],
): Pick<DownloadState, 'totalBytes' | 'isEstimate'> {
  if (phase === 'done' && transfer) return { totalBytes: receivedBytes, isEstimate: false };
  const exact = transfer?.entity?.totalBytes;
  if (exact !== undefined) return { totalBytes: exact, isEstimate: false };
  const estimate = transfer?.entity?.estimatedBytes ?? expectedBytes;
  if (estimate === undefined) return { isEstimate: false };
  return { totalBytes: Math.max(estimate, receivedBytes), isEstimate: true };
}

/** Ends early when the device comes online. */
const sleepUntilOnline: Sleep = async (milliseconds, signal) => {
  if (isOnline() || !('addEventListener' in globalThis)) return sleep(milliseconds, signal);
  const isBack = Promise.withResolvers<void>();
  const done = new AbortController();
  globalThis.addEventListener('online', () => isBack.resolve(), { once: true, signal: done.signal });
  try {
    const all = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
    await Promise.race([sleep(milliseconds, all), isBack.promise]);
  } finally {
    done.abort();
  }
};

/** Shown until it is resumed. */
const restoredState = ({ receivedBytes = 0, entity, isStored }: DownloadRecord): Partial<DownloadState> => ({
  phase: 'paused',
  ...(isStored && receivedBytes > 0 && { receivedBytes, totalBytes: entity?.totalBytes, isEstimate: false }),
});

/** `crypto.randomUUID` is missing on plain http. */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
