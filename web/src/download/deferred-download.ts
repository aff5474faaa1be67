import type { WaitOptions } from '../api/index.ts';
import { createSubject } from '../lib/index.ts';
import type { Download } from './download.ts';
import { isRetryable, toDownloadFailure } from './download-failure.ts';
import { type DownloadFailure, type DownloadState, hasEnded, INITIAL_STATE } from './download-state.ts';
import type { DownloadRecord } from './journal.ts';

export interface DeferredDownloadOptions {
  readonly id: string;
  /** Stored until the link is resolved. */
  readonly record: DownloadRecord;
  /** Shown until the file name is known. */
  readonly name: string;
  /** Resolves the link to a download. @throws ApiFailure, or the signal's reason */
  find(options: WaitOptions): Promise<Download>;
}

/** A download whose link is resolved only when it starts. */
export function createDeferredDownload({ id, record, name, find }: DeferredDownloadOptions): Download {
  const state = createSubject(stateOf('ready'));
  let found: Download | undefined;
  let cancelled = new AbortController();

  const run = async () => {
    const { signal } = cancelled;
    const showWaiting = (more?: Partial<DownloadState>) => {
      if (!signal.aborted) state.set(stateOf('waiting', more));
    };
    showWaiting();
    try {
      const download = await find({ signal, onWaiting: (waiting) => showWaiting({ waiting }) });
      signal.throwIfAborted();
      found = download;
    } catch (error) {
      if (signal.aborted) return;
      const failure = toDownloadFailure(error);
      state.set(stateOf('failed', { failure: ofEntry(failure), canRetry: isRetryable(failure) }));
      return;
    }
    found.state.subscribe(state.set);
    await found.start();
  };

  return {
    get fileName() {
      return found?.fileName ?? name;
    },
    id,
    state,
    record() {
      if (found) return found.record();
      const { phase, canRetry } = state.get();
      return phase === 'cancelled' || (phase === 'failed' && !canRetry) ? undefined : record;
    },
    async start() {
      if (state.get().phase === 'ready') await run();
    },
    pause: () => found?.pause(),
    resume() {
      if (found) return found.resume();
      if (!state.get().canRetry) return;
      cancelled = new AbortController();
      void run();
    },
    stopAndSave: () => found?.stopAndSave(),
    cancel() {
      if (found) return found.cancel();
      cancelled.abort();
      if (!hasEnded(state.get())) state.set(stateOf('cancelled'));
    },
  };
}

const stateOf = (phase: DownloadState['phase'], more: Partial<DownloadState> = {}): DownloadState => ({
  ...INITIAL_STATE,
  phase,
  ...more,
});

/** For a stream, not-found means an expired key; for an entry, that it has no media. */
const ofEntry = (failure: DownloadFailure): DownloadFailure =>
  failure.kind === 'not-found' ? { ...failure, kind: 'nothing' } : failure;
