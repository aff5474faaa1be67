import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiFailure, type MediaInformation, type UnavailableEntry } from '../../api/index.ts';
import { type Choice, choicesOf, type FormatPreference } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { type Entries, type Entry, hasVersions, useRetainedState } from './entries.ts';

/** A row of a playlist: an entry, or the place of one that is not available. */
export interface PlaylistRow {
  /** One-based place in the list at its source. */
  readonly number: number;
  /** Absent for one that is gone, private or protected. */
  readonly entry?: Entry;
  /** Of one that is not available, as far as it is known. */
  readonly gone?: Partial<UnavailableEntry> | undefined;
}

export interface ListedRow extends PlaylistRow {
  /** Index in `Entries.all`. */
  readonly index: number;
  readonly entry: Entry;
}

export const isListed = (row: PlaylistRow): row is ListedRow => row.entry !== undefined;

interface Gaps {
  /** Entries of the list before the rows. */
  readonly offset?: number;
  readonly unavailable?: readonly number[];
  /** What is known of unavailable entries, by their numbers. */
  readonly known?: ReadonlyMap<number, UnavailableEntry>;
}

/** The rows of a list in its order: its entries, with gaps at the unavailable places. */
export function rowsOfPlaylist(
  entries: readonly Entry[],
  { offset = 0, unavailable = [], known }: Gaps = {},
): readonly (PlaylistRow | ListedRow)[] {
  const { length: count } = entries;
  const gaps = new Set(unavailable.filter((number) => number <= offset + count + unavailable.length));
  let next = 0;
  return Array.from({ length: count + gaps.size }, (_, place) => {
    const number = offset + place + 1;
    if (gaps.has(number)) return { number, gone: known?.get(number) };
    const index = next++;
    const entry = entries[index];
    if (!entry?.isGone) return { number, index, entry };
    const { title, requestedUrl } = entry.item;
    const reason = entry.failure?.problem ?? known?.get(number)?.reason;
    return { number, gone: { title, url: requestedUrl ?? undefined, reason } };
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
    // The timer is for background tabs, which render no frames.
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

/**
 * Which entries of a list are selected: all at first.
 * @param owner of the state, as for `useRetainedState`
 * @param shown indexes of the entries that the filter shows, in order
 */
export function usePickedEntries(owner: object, count: number, shown: readonly number[]) {
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    owner,
    'picked',
    () => new Set(Array.from({ length: count }, (_, index) => index)),
  );
  const before = useRef<number>(undefined);
  const change = (indexes: readonly number[], isPicked: boolean) =>
    setPicked(isPicked ? picked.union(new Set(indexes)) : picked.difference(new Set(indexes)));
  return {
    /** Indexes of entries. */
    picked,
    /** Picks or drops every entry that the filter shows. */
    pickAll: (isPicked: boolean): void => change(shown, isPicked),
    /** @param isRange also picks the entries between this one and the one picked before */
    pick(index: number, isPicked: boolean, isRange: boolean): void {
      change(isRange ? between(shown, before.current ?? index, index) : [index], isPicked);
      before.current = index;
    },
  };
}

/** The indexes from one to another, in either direction, both included. */
export function between(shown: readonly number[], one: number, other: number): readonly number[] {
  const ends = [shown.indexOf(one), shown.indexOf(other)].sort((a, b) => a - b);
  const [first = -1, last = -1] = ends;
  return first < 0 ? [other] : shown.slice(first, last + 1);
}

/** Numbers of entries as the API reads them: `1-3,7`. @param numbers ascending */
export function formatNumbers(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const current = ranges.at(-1);
    if (current?.[1] === number - 1) current[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}

interface EntryFilesOptions {
  /** The same object until it changes. */
  readonly preference: FormatPreference;
  readonly listed: readonly ListedRow[];
  /** The length of a list whose entries have numbers, for the names of files. */
  readonly count: number | undefined;
}

/** Returns a function that chooses the file of an entry and remembers it: lists are long. */
export function createChooser(
  preference: FormatPreference,
  count: number | undefined,
): (item: MediaInformation, number: number | undefined) => Choice | undefined {
  const chosen = new WeakMap<MediaInformation, { readonly choice: Choice | undefined }>();
  return (item, number) => {
    const known = chosen.get(item);
    if (known) return known.choice;
    const place = count && number ? { number, count } : undefined;
    const choice = choicesOf(item, { place, preference, isForArchive: true }).preselected;
    chosen.set(item, { choice });
    return choice;
  };
}

/** The files of the entries of a list in its format. */
export function useEntryFiles(entries: Entries, { preference, listed, count }: EntryFilesOptions) {
  const { downloads } = usePage();
  const [urls, setUrls] = useState<ReadonlyMap<number, string>>(new Map());
  const choose = useMemo(() => createChooser(preference, count), [preference, count]);
  const choiceOf = ({ number, entry: { item } }: ListedRow) => (hasVersions(item) ? choose(item, number) : undefined);
  return {
    /** The address of each download that was started, by the index of its entry. */
    urls,
    /** Undefined while the entry is not resolved, and without any. */
    choiceOf,
    /** The sum of sizes, without failed entries; undefined unless every one is known. */
    bytesOf(rows: readonly ListedRow[]): number | undefined {
      const sizes = rows.map((row) => (row.entry.failure ? 0 : (choiceOf(row)?.sizeBytes ?? Number.NaN)));
      return sizes.reduce((sum, size) => sum + size, 0) || undefined;
    },
    /** Starts the download of an entry. Its row says why it cannot be resolved. */
    async download(index: number): Promise<void> {
      const found = await entries.lookUp(index);
      if (!found) return;
      const choice = choose(found, listed.find((row) => row.index === index)?.number);
      if (!choice) return entries.fail(index, new ApiFailure('not-found'));
      const url = downloads.urlOf(choice);
      setUrls((before) => new Map(before).set(index, url));
      const { title, author, coverUrl, requestedUrl: link } = found;
      await downloads.start(url, { link, title, author, coverUrl });
    },
  };
}
