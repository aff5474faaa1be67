import type { Download, DownloadState } from './download.ts';
import { createSubject, type Observable } from './observable.ts';

export interface Queued {
  readonly id: number;
  readonly download: Download;
}

export interface QueueState {
  /** In the order in which they were added. */
  readonly items: readonly Queued[];
  /** The one under way. */
  readonly currentId?: number;
  readonly doneCount: number;
  readonly failedCount: number;
}

/** Downloads one after another. One that fails does not hold the others; one that is paused does. */
export interface Queue {
  /** Changes when one is added, begins, ends or is removed, not with each byte: those are in the download's state. */
  readonly state: Observable<QueueState>;
  /** Begins at once when nothing is under way. @returns the id */
  add(download: Download): number;
  /** Cancels one if it has not ended, and forgets it. */
  remove(id: number): void;
  /** Cancels all that have not ended. */
  cancelAll(): void;
  /** Forgets all that have ended. */
  clearEnded(): void;
}

const ENDED: readonly DownloadState['phase'][] = ['done', 'failed', 'cancelled'];

export function createQueue(): Queue {
  const state = createSubject<QueueState>({ items: [], doneCount: 0, failedCount: 0 });
  const watching = new Map<number, () => void>();
  let nextId = 1;

  const show = (items: readonly Queued[]) => {
    const count = (phase: string) => items.filter(({ download }) => phaseOf(download) === phase).length;
    const current = items.find(({ download }) => phaseOf(download) !== 'ready' && !hasEnded(download));
    state.set({
      items,
      ...(current && { currentId: current.id }),
      doneCount: count('done'),
      failedCount: count('failed'),
    });
  };

  /** Tells of every change of phase, and begins the next when nothing is under way. */
  const goOn = () => {
    const { items } = state.get();
    show(items);
    if (state.get().currentId !== undefined) return;
    // A start is a change of phase: it comes back here.
    void items.find(({ download }) => phaseOf(download) === 'ready')?.download.start();
  };

  const watch = ({ id, download }: Queued) => {
    let phase = phaseOf(download);
    const end = download.state.subscribe((next) => {
      if (next.phase === phase) return;
      phase = next.phase;
      goOn();
    });
    watching.set(id, end);
  };

  const forget = (gone: (item: Queued) => boolean) => {
    const { items } = state.get();
    for (const { id } of items.filter(gone)) {
      watching.get(id)?.();
      watching.delete(id);
    }
    show(items.filter((item) => !gone(item)));
    goOn();
  };

  return {
    state,
    add(download) {
      const item = { id: nextId++, download };
      watch(item);
      show([...state.get().items, item]);
      goOn();
      return item.id;
    },
    remove(id) {
      const { items } = state.get();
      forget((item) => item.id === id);
      items.find((item) => item.id === id)?.download.cancel();
    },
    cancelAll() {
      // Those that wait first: none of them begins when the current one ends.
      for (const { download } of state.get().items.toReversed()) if (!hasEnded(download)) download.cancel();
    },
    clearEnded() {
      // What failed may keep a part of its file.
      for (const { download } of state.get().items) if (phaseOf(download) === 'failed') download.cancel();
      forget(({ download }) => hasEnded(download));
    },
  };
}

const phaseOf = (download: Download) => download.state.get().phase;
const hasEnded = (download: Download) => ENDED.includes(phaseOf(download));
