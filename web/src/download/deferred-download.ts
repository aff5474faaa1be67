import type { WaitOptions } from '../api/index.ts';
import { createSubject } from '../lib/index.ts';
import type { Download } from './download.ts';
import { isRetryable, toDownloadFailure } from './download-failure.ts';
import { type DownloadFailure, type DownloadState, hasEnded, INITIAL_STATE } from './download-state.ts';

export interface DeferredDownloadOptions {
  /** What it is called until its file is found. */
  readonly name: string;
  /** Finds what there is to take. @throws ApiFailure, or the signal's reason */
  find(options: WaitOptions): Promise<Download>;
}

/** A download that begins by finding out what there is: a place in the queue for what is not looked up yet. */
export function createDeferredDownload({ name, find }: DeferredDownloadOptions): Download {
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
    state,
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

/** Of a stream that is not found a version is gone; of an entry there was none. */
const ofEntry = (failure: DownloadFailure): DownloadFailure =>
  failure.kind === 'not-found' ? { ...failure, kind: 'nothing' } : failure;
