import type { Download } from './download.ts';
import type { Observable } from './observable.ts';

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

export function createQueue(): Queue {
  throw new Error('queue');
}
