import type { Download } from './download.ts';
import { hasEnded } from './download-state.ts';

/** Downloads one after another. One that fails does not hold the others; one that is paused does. */
export interface Queue {
  /** Begins at once when nothing is under way. */
  add(download: Download): void;
  /** Does not begin it any more, nor waits for it. */
  remove(download: Download): void;
}

export function createQueue(): Queue {
  /** In the order in which they were added, with what ends the watching of each. */
  const watched = new Map<Download, () => void>();

  const startNext = () => {
    const downloads = [...watched.keys()];
    if (downloads.some(isUnderWay)) return;
    // A start is a change of phase: it comes back here.
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
