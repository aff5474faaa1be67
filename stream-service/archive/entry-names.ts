import type { ArchivedList } from '../../core/state/index.ts';
import { fileName, type Naming } from '../file-name.ts';

/** Paths within the archive of a list. */
export interface EntryNames {
  /** `List/007 - Artist - Title.mp4`. @param index of the entry, from 0 */
  pathOf(index: number, naming: Naming, fileExtension: string): string;
  readonly indexPath: string;
}

/**
 * All files are in one folder, so that extracting adds one name to the present folder. Its name and theirs have no
 * separators, and begin with no dot: no entry leaves it. Numbers make the names unique.
 */
export function createEntryNames(list: Pick<ArchivedList, 'title' | 'author' | 'entries'>): EntryNames {
  const folder = fileName(list, '');
  const digits = Math.max(2, String(list.entries.length).length);
  return {
    pathOf: (index, naming, fileExtension) =>
      `${folder}/${numberOf(index, digits)} - ${fileName(naming, fileExtension)}`,
    indexPath: `${folder}/index.txt`,
  };
}

const numberOf = (index: number, digits: number): string => String(index + 1).padStart(digits, '0');
