import type { Observable } from './observable.ts';

export interface HistoryEntry {
  readonly link: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What was resolved on this device, newest first, each link once. Never leaves it. */
export interface History {
  readonly entries: Observable<readonly HistoryEntry[]>;
  add(entry: Omit<HistoryEntry, 'at'>): void;
  remove(link: string): void;
  clear(): void;
}

export interface HistoryOptions {
  /** Where to keep it. A storage that fails or is absent keeps it for this page alone. */
  readonly storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined;
  /** Entries at most. @default 50 */
  readonly limit?: number;
  readonly now?: () => number;
}

export function createHistory(_options: HistoryOptions): History {
  throw new Error('history');
}
