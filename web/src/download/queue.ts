import type { Download } from './download.ts';
import { hasEnded } from './download-state.ts';

/** Runs downloads one at a time. A failed one does not block the next; a paused one does. */
export interface Queue {
  /** Starts immediately when the queue is idle. */
  add(download: Download): void;
  /** Skips it if it has not started; otherwise continues with the next. */
  remove(download: Download): void;
}

export function createQueue(): Queue {
  /** In insertion order, with the unsubscribe function of each. */
  const watched = new Map<Download, () => void>();

  const startNext = () => {
    const downloads = [...watched.keys()];
    if (downloads.some(isUnderWay)) return;
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
const isUnderWay = (download: Download) => !isReady(download) && !hasEnded(download.state.get());
