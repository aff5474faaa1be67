import { useEffect, useState } from 'preact/hooks';
import type { Entry } from './entries.ts';

/** A row of a playlist: an entry, or the place of one that is not available. */
export interface PlaylistRow {
  /** One-based place in the list at its source. */
  readonly number: number;
  /** Absent for one that is gone, private or protected. */
  readonly entry?: Entry;
  /** Why it is not available, where that is known. */
  readonly failure?: Entry['failure'];
}

export interface ListedRow extends PlaylistRow {
  /** Among the entries. */
  readonly index: number;
  readonly entry: Entry;
}

export const isListed = (row: PlaylistRow): row is ListedRow => row.entry !== undefined;

/** The rows of a list in its order: its entries, with gaps at the unavailable places. */
export function rowsOfPlaylist(
  entries: readonly Entry[],
  unavailable: readonly number[] = [],
): readonly (PlaylistRow | ListedRow)[] {
  const { length: count } = entries;
  const gaps = new Set(unavailable.filter((number) => number <= count + unavailable.length));
  let next = 0;
  return Array.from({ length: count + gaps.size }, (_, place) => {
    const number = place + 1;
    if (gaps.has(number)) return { number };
    const index = next++;
    const entry = entries[index];
    return entry?.isGone ? { number, failure: entry.failure } : { number, index, entry };
  });
}

/** Whether an entry's title or author contains every word of a filter, in any case and with or without diacritics. */
export function matches({ item }: Entry, filter: string): boolean {
  const text = folded(`${item.title ?? ''} ${item.author ?? ''}`);
  return folded(filter)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

/** Rows rendered at first, and with each further frame. */
const FIRST_ROWS = 20;
const ROWS_PER_FRAME = 30;

/** How many of `count` rows to render: the first ones at once, the rest frame by frame. */
export function useIncrementalCount(count: number): number {
  const [shown, setShown] = useState(FIRST_ROWS);
  useEffect(() => {
    if (shown >= count) return;
    // A timer besides: there are no frames in a background tab.
    const more = () => setShown(shown + ROWS_PER_FRAME);
    const timer = setTimeout(more, 100);
    const frame = requestAnimationFrame(() => setTimeout(more));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [shown, count]);
  return Math.min(shown, count);
}
