import type { Entity } from '../../../clients/reelay-client/src/index.ts';
import { readStored, type Store, store } from '../lib/index.ts';

/** What an unresolved entry of a playlist is downloaded as. */
export interface EntryFormat {
  readonly format: string;
  /** One-based place in the playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number };
}

/** A download that has not ended, as stored for the next page. */
export interface DownloadRecord {
  readonly id: string;
  /** Of the stream; with `entry` the link to resolve. */
  readonly url: string;
  readonly fileName: string;
  readonly entry?: EntryFormat;
  readonly expectedBytes?: number;
  /** Of an archive of a list. */
  readonly entryCount?: number;
  /** It had not started. */
  readonly isQueued?: boolean;
  /** Its parts are in the browser's storage, under its id. */
  readonly isStored?: boolean;
  readonly entity?: Entity;
  /** When the record was written; the parts decide where it continues. */
  readonly receivedBytes?: number;
  /** The visitor paused it: it is not resumed without being asked. */
  readonly isPaused?: boolean;
}

/** The unended downloads of this browser, of all its pages. */
export interface Journal {
  /** Ids of all records. */
  ids(): ReadonlySet<string>;
  put(record: DownloadRecord): void;
  delete(id: string): void;
  /** Takes over the records of closed pages: no other page gets them. */
  claim(): Promise<readonly DownloadRecord[]>;
}

/** Name of the stored records; nothing is stored without any. */
export const JOURNAL_NAME = 'reelay.downloads';
const MAX_RECORDS = 500;

export function createJournal(storage: Store | undefined, locks = globalThis.navigator?.locks): Journal {
  const owned = new Set<string>();
  const read = () => parse(readStored(storage, JOURNAL_NAME));
  // Read before each write: other pages write too.
  const write = (records: readonly DownloadRecord[]) =>
    void store(storage, JOURNAL_NAME, records.length > 0 ? JSON.stringify(records) : null);
  return {
    ids: () => new Set(read().map(({ id }) => id)),
    put(record) {
      if (!owned.has(record.id)) {
        owned.add(record.id);
        void own(locks, record.id);
      }
      const others = read().filter(({ id }) => id !== record.id);
      write([...others, record].slice(-MAX_RECORDS));
    },
    delete(id) {
      const records = read();
      if (records.some((record) => record.id === id)) write(records.filter((record) => record.id !== id));
    },
    async claim() {
      const claimed: DownloadRecord[] = [];
      for (const record of read()) {
        if (owned.has(record.id) || !(await own(locks, record.id))) continue;
        owned.add(record.id);
        claimed.push(record);
      }
      return claimed;
    },
  };
}

/** Holds a lock for the life of the page. @returns whether it was free; true without locks (plain http) */
function own(locks: LockManager | undefined, id: string): Promise<boolean> {
  if (!locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    locks
      .request(`record:${id}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock ? new Promise<void>(() => undefined) : undefined;
      })
      .catch(() => resolve(false));
  });
}

function parse(text: string | null): DownloadRecord[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isRecord) : [];
  } catch {
    return [];
  }
}

/** Storage may hold data of another version. */
const isRecord = (value: unknown): value is DownloadRecord => {
  if (typeof value !== 'object' || value === null) return false;
  const { id, url, fileName } = value as Record<string, unknown>;
  return typeof id === 'string' && typeof fileName === 'string' && typeof url === 'string' && /^https?:\/\//.test(url);
};
