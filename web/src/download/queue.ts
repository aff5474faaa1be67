import type { Download } from './download.ts';
import { hasEnded } from './download-state.ts';

/** Runs a few downloads at a time, in order. Failed and paused ones do not block the next. */
export interface Queue {
  /** Starts immediately when fewer than `maxRunning` are running. */
  add(download: Download): void;
  /** Skips it if it has not started; otherwise continues with the next. */
  remove(download: Download): void;
}

export interface QueueOptions {
  /** @default 2 */
  readonly maxRunning?: number;
}

export function createQueue({ maxRunning = 2 }: QueueOptions = {}): Queue {
  /** In insertion order, with the unsubscribe function of each. */
  const watched = new Map<Download, () => void>();

  const startNext = () => {
    const downloads = [...watched.keys()];
    if (downloads.filter(isRunning).length >= maxRunning) return;
    // Starting changes the phase, which calls this again.
    void downloads.find(isReady)?.start();
  };

  return {
    add(download) {
      let { phase } = download.state.get();
      const unwatch = download.state.subscribe((next) => {
        if (next.phase === phase) return;
        phase = next.phase;
        startNext();
      });
      watched.set(download, unwatch);
      startNext();
    },
    remove(download) {
      watched.get(download)?.();
      watched.delete(download);
      startNext();
    },
  };
}

const isReady = ({ state }: Download) => state.get().phase === 'ready';
const isRunning = ({ state }: Download) => {
  const current = state.get();
  return current.phase !== 'ready' && current.phase !== 'paused' && !hasEnded(current);
};
