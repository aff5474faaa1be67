import { useEffect, useState } from 'preact/hooks';
import type { ApiFailure, PlaylistCounts } from '../../api/index.ts';
import type { Entry } from './entries.ts';

/** A row of a playlist: an entry, or the place of one that is not available. */
export interface PlaylistRow {
  /** One-based place in the list at its source. */
  readonly number: number;
  /** Index among the entries; undefined for one that is gone, private or protected. */
  readonly index?: number;
  /** Why it is not available, where that is known. */
  readonly failure?: ApiFailure | undefined;
}

/** The rows of a list in its order: its entries, with gaps at the unavailable places. */
export function rowsOfPlaylist(
  entries: readonly Pick<Entry, 'isGone' | 'failure'>[],
  unavailable: readonly number[] = [],
): readonly PlaylistRow[] {
  const { length: count } = entries;
  const gaps = new Set(unavailable.filter((number) => number <= count + unavailable.length));
  let index = 0;
  return Array.from({ length: count + gaps.size }, (_, place) => {
    const number = place + 1;
    if (gaps.has(number)) return { number };
    const row = { number, index: index++ };
    const { isGone, failure } = entries[row.index] ?? {};
    return isGone ? { number, failure } : row;
  });
}

/** What the counts of a list add to the number of its entries. */
export interface CountNotes {
  /** Entries at the source, where that is more than are listed. */
  readonly total?: number;
  readonly unavailableCount: number;
  /** Entries that the server lists at most, where the list ends there. */
  readonly limit?: number;
  /** Entries that are resolved when they are opened or downloaded. */
  readonly pendingCount: number;
}

export function countNotesOf(count: number, pendingCount: number, counts?: PlaylistCounts): CountNotes {
  const unavailableCount = counts?.unavailable.length ?? 0;
  const listed = count + unavailableCount;
  const total = counts?.total !== undefined && counts.total > listed ? counts.total : undefined;
  return { total, unavailableCount, limit: counts?.isCut ? listed : undefined, pendingCount };
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

/** How many of `count` rows to render: the first ones at once, after a change of the filter too, the rest frame by frame. */
export function useIncrementalCount(count: number, filter: string): number {
  const [last, setLast] = useState({ filter, shown: FIRST_ROWS });
  const shown = last.filter === filter ? last.shown : FIRST_ROWS;
  useEffect(() => setLast({ filter, shown: FIRST_ROWS }), [filter]);
  useEffect(() => {
    if (shown >= count) return;
    // A timer besides: there are no frames in a background tab.
    const more = () => setLast({ filter, shown: shown + ROWS_PER_FRAME });
    const timer = setTimeout(more, 100);
    const frame = requestAnimationFrame(() => setTimeout(more));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, [shown, count, filter]);
  return Math.min(shown, count);
}
