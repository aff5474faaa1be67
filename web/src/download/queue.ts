import type { Download } from './download.ts';
import { hasEnded } from './download-state.ts';

/** Runs a few downloads at a time, in order. Failed and paused ones do not block the next. */
export interface Queue {
  /** Starts immediately when fewer than `maxRunning` are running. */
  add(download: Download): void;
  /** Skips it if it has not started; otherwise continues with the next. */
  remove(download: Download): void;
  /** The order in which those that have not started will start. */
  sort(order: readonly Download[]): void;
}

export interface QueueOptions {
  /** @default 2 */
  readonly maxRunning?: number;
}

export function createQueue({ maxRunning = 2 }: QueueOptions = {}): Queue {
  /** In starting order, with the unsubscribe function of each. */
  let watched = new Map<Download, () => void>();

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
    sort(order) {
      const rank = new Map(order.map((download, index) => [download, index]));
      const rankOf = (download: Download) => rank.get(download) ?? Infinity;
      watched = new Map([...watched].sort(([a], [b]) => rankOf(a) - rankOf(b) || 0));
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
