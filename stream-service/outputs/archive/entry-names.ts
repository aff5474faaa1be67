import type { ArchivedList } from '../../../core/state/index.ts';
import { fileName, type Naming } from '../file-name.ts';

/** Paths within the archive of a list. */
export interface EntryNames {
  /** `List/007 - Artist - Title.mp4`. @param index of the entry, from 0 */
  pathOf(index: number, naming: Naming, fileExtension: string): string;
  /** One-based place of an entry in its list. */
  numberOf(index: number): number;
  readonly indexPath: string;
}

/**
 * All files are in one folder, so that extracting adds one name to the present folder. Its name and theirs have no
 * separators, and begin with no dot: no entry leaves it. Numbers make the names unique.
 */
export function createEntryNames(list: Pick<ArchivedList, 'title' | 'author' | 'entries' | 'unavailable'>): EntryNames {
  const folder = fileName(list, '');
  const numbers = entryNumbers(list);
  const digits = Math.max(2, String(numbers.at(-1)).length);
  return {
    pathOf: (index, naming, fileExtension) =>
      `${folder}/${String(numbers[index]).padStart(digits, '0')} - ${fileName(naming, fileExtension)}`,
    numberOf: (index) => numbers[index] ?? index + 1,
    indexPath: `${folder}/index.txt`,
  };
}

/** The one-based places of the entries in their list, which has further ones that are not available. */
export function entryNumbers({ entries, unavailable = [] }: Pick<ArchivedList, 'entries' | 'unavailable'>): number[] {
  const missing = new Set(unavailable);
  const places = Array.from({ length: entries.length + missing.size }, (_, index) => index + 1);
  return places.filter((place) => !missing.has(place)).slice(0, entries.length);
}

/** The index of the first entry with a number of at least `from`, -1 without any, and the number of the last entry. */
export function indexesFrom(
  list: Pick<ArchivedList, 'entries' | 'unavailable'>,
  from: number,
): { readonly first: number; readonly last: number } {
  const numbers = entryNumbers(list);
  return { first: numbers.findIndex((number) => number >= from), last: numbers.at(-1) ?? 0 };
}
