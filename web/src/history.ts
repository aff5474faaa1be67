import { createSubject, type Observable, readStoredJson, type Store, store } from './store.ts';

export interface HistoryItem {
  readonly link: string | null;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
}

export interface HistoryEntry extends HistoryItem {
  readonly link: string;
  readonly isList?: boolean | undefined;
  /** Address of the file of this link that was downloaded last. */
  readonly fileUrl?: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Links resolved on this device in the last 30 days, newest first, each once. Stored only in this browser. */
export interface History {
  readonly entries: Observable<readonly HistoryEntry[]>;
  /** An item without a link is not added. What is known of its link remains unless `more` changes it. */
  add(item: HistoryItem, more?: Pick<HistoryEntry, 'isList' | 'fileUrl'>): void;
  remove(link: string): void;
  clear(): void;
}

interface HistoryOptions {
  /** Without a working storage, entries last as long as the page. */
  readonly storage?: Store | undefined;
  /** Source of `storage` events of other tabs: `window`. */
  readonly events?: Pick<EventTarget, 'addEventListener'>;
  /** Maximum number of entries. @default 50 */
  readonly limit?: number;
  readonly now?: () => number;
}

const NAME = 'reelay.history';
const MAX_AGE_MS = 30 * 24 * 3600_000;

export function createHistory({ storage, events, limit = 50, now = Date.now }: HistoryOptions): History {
  const read = () => {
    const oldest = now() - MAX_AGE_MS;
    const stored = readStoredJson(storage, NAME);
    return (Array.isArray(stored) ? stored : [])
      .filter(isEntry)
      .filter(({ at }) => at > oldest)
      .slice(0, limit);
  };
  const entries = createSubject<readonly HistoryEntry[]>(read());
  let isKept = storage !== undefined;
  /** Another tab may have changed them. */
  const current = () => (isKept ? read() : entries.get());
  const without = (link: string) => current().filter((entry) => entry.link !== link);
  const keep = (next: readonly HistoryEntry[]) => {
    const bounded = next.slice(0, limit);
    isKept = store(storage, NAME, bounded.length > 0 ? JSON.stringify(bounded) : null);
    entries.set(bounded);
  };
  events?.addEventListener('storage', (event) => {
    const { key } = event as StorageEvent;
    // A null key means that all storage was cleared.
    if (key === NAME || key === null) entries.set(read());
  });
  return {
    entries,
    add({ link, title, author, coverUrl }, more) {
      if (!link) return;
      const known = current().find((entry) => entry.link === link);
      keep([{ ...known, ...more, link, title, author, coverUrl, at: now() }, ...without(link)]);
    },
    remove: (link) => keep(without(link)),
    clear: () => keep([]),
  };
}

/** Storage may hold data of another version. */
const isEntry = (value: Partial<HistoryEntry> | null): value is HistoryEntry =>
  /^https?:/i.test(value?.link ?? '') && typeof value?.at === 'number';
