import { useMemo, useState } from 'preact/hooks';
import { ApiFailure, type MediaInformation } from '../../api/index.ts';
import { type Choice, choicesOf, type FormatPreference } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { type Entries, hasVersions } from './entries.ts';
import type { ListedRow } from './playlist-rows.ts';

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
    const choice = choicesOf(item, { place, preference }).preselected;
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
    /** The sum of sizes, of what can be resolved; undefined unless every one is known. */
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
