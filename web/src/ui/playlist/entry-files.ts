import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiFailure, type MediaInformation } from '../../api/index.ts';
import { type Choice, choicesOf, type PlaylistFormat, selectForPlaylist } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { type Entries, hasVersions } from './entries.ts';

export interface EntryFilesOptions {
  readonly format: PlaylistFormat;
  /** For the name of a file. */
  readonly placeOf: (index: number) => { readonly number: number; readonly count: number } | undefined;
}

/** The files of the entries of a list in its format. */
export interface EntryFiles {
  /** Undefined while the entry is not resolved or its renditions are not read, and without any. */
  choiceOf(index: number): Choice | undefined;
  /** The sum of sizes, of what can be resolved; undefined unless every one is known. */
  bytesOf(indexes: readonly number[]): number | undefined;
  /** The address of each download that was started, by the index of its entry. */
  readonly urls: ReadonlyMap<number, string>;
  /** Starts the download of an entry. Its row says why it cannot be resolved. */
  download(index: number): Promise<void>;
  /** One after the other: an instance limits the streams of a client. */
  downloadAll(indexes: readonly number[]): Promise<void>;
}

/** Reading the renditions of hundreds of entries at once would take longer than a frame. */
const CHOICES_PER_TURN = 30;

export function useEntryFiles(entries: Entries, { format, placeOf }: EntryFilesOptions): EntryFiles {
  const { formats, downloads } = usePage();
  const [urls, setUrls] = useState<ReadonlyMap<number, string>>(new Map());
  const preference = formats.get();
  const known = useMemo(
    () => new WeakMap<MediaInformation, { readonly choice: Choice | undefined }>(),
    [format, preference],
  );
  const choose = (item: MediaInformation, index: number) =>
    selectForPlaylist(choicesOf(item, { place: placeOf(index), preference }), format);

  let left = CHOICES_PER_TURN;
  const choiceOf = (index: number) => {
    const { item } = entries.all[index] ?? {};
    if (!item || !hasVersions(item)) return undefined;
    const found = known.get(item);
    if (found) return found.choice;
    left -= 1;
    if (left < 0) return undefined;
    const choice = choose(item, index);
    known.set(item, { choice });
    return choice;
  };
  const [, redraw] = useState({});
  useEffect(() => {
    if (left >= 0) return;
    const timer = setTimeout(() => redraw({}));
    return () => clearTimeout(timer);
  });
  const download = async (index: number) => {
    const found = await entries.lookUp(index);
    if (!found) return;
    const choice = choose(found, index);
    if (!choice) return entries.fail(index, new ApiFailure('not-found'));
    const file = downloads.fileOf(choice);
    setUrls((before) => new Map(before).set(index, file.url));
    const { title, author, coverUrl, requestedUrl: link } = found;
    await downloads.start(file, { link, title, author, coverUrl });
  };
  return {
    urls,
    choiceOf,
    bytesOf(indexes) {
      const sizes = indexes.map((index) => (entries.all[index]?.failure ? 0 : choiceOf(index)?.sizeBytes));
      return sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
    },
    download,
    async downloadAll(indexes) {
      for (const index of indexes) await download(index);
    },
  };
}
