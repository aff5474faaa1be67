import { createSubject, type Observable } from './observable.ts';
import { readStored, type Store, store } from './store.ts';

export interface HistoryItem {
  readonly link: string | null;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
}

/** A file that was downloaded. */
export interface HistoryFile {
  readonly url: string;
  readonly fileName: string;
}

export interface HistoryEntry extends HistoryItem {
  readonly link: string;
  /** What was downloaded of it last. */
  readonly file?: HistoryFile;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Links resolved on this device in the last 30 days, newest first, each once. Stored only in this browser. */
export interface History {
  readonly entries: Observable<readonly HistoryEntry[]>;
  /** An item without a link is not added. @param file downloaded; by default the one that the entry has */
  add(item: HistoryItem, file?: HistoryFile): void;
  remove(link: string): void;
  clear(): void;
  /** Adds entries of a cleared list, such as after `clear`. */
  restore(entries: readonly HistoryEntry[]): void;
}

export interface HistoryOptions {
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
/** Longer texts are cut; longer URLs are dropped. */
const MAX_TEXT_CHARACTERS = 300;
const MAX_URL_CHARACTERS = 4096;

export function createHistory({ storage, events, limit = 50, now = Date.now }: HistoryOptions): History {
  const read = () => {
    const oldest = now() - MAX_AGE_MS;
    return parse(readStored(storage, NAME))
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
    add({ link, title, author, coverUrl }, file) {
      if (!link || link.length > MAX_URL_CHARACTERS) return;
      const known = file ?? current().find((entry) => entry.link === link)?.file;
      keep([...entryOf({ link, title, author, coverUrl, file: known, at: now() }), ...without(link)]);
    },
    remove: (link) => keep(without(link)),
    clear: () => keep([]),
    restore(removed) {
      const newer = current();
      keep([...newer, ...removed.filter(({ link }) => newer.every((entry) => entry.link !== link))]);
    },
  };
}

/** Storage may hold data of another version. */
function parse(text: string | null): HistoryEntry[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.flatMap(entryOf) : [];
  } catch {
    return [];
  }
}

function entryOf(value: unknown): HistoryEntry[] {
  if (typeof value !== 'object' || value === null) return [];
  const { link, title, author, coverUrl, file, at } = value as Record<string, unknown>;
  if (typeof link !== 'string' || !/^https?:\/\//i.test(link) || typeof at !== 'number') return [];
  const downloaded = fileOf(file);
  const texts = { title: cut(title), author: cut(author), coverUrl: address(coverUrl) };
  return [{ link, ...texts, ...(downloaded && { file: downloaded }), at }];
}

function fileOf(value: unknown): HistoryFile | undefined {
  const { url, fileName } = (value ?? {}) as Record<string, unknown>;
  const [usable, name] = [address(url), cut(fileName)];
  return usable && name ? { url: usable, fileName: name } : undefined;
}

const cut = (text: unknown): string | null =>
  typeof text === 'string' ? [...text].slice(0, MAX_TEXT_CHARACTERS).join('') : null;

const address = (url: unknown): string | null =>
  typeof url === 'string' && url.length <= MAX_URL_CHARACTERS && /^https?:\/\//i.test(url) ? url : null;
