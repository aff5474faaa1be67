import { toProblem } from '../../../core/api/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import type { ArchivedList, PlaylistEntry } from '../../../core/state/index.ts';
import { fileName, type Naming } from '../file-name.ts';

/** The path of an entry within the archive, or the reason why it is missing. */
export type EntryResult = { readonly number: number } & ({ readonly path: string } | { readonly reason: string });

/** The last file of an archive. */
export interface IndexFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  readonly text: string;
}

/** What an archive contains: the entries of a list from a number on, and an index of them. */
export interface ArchiveContents {
  readonly list: ArchivedList;
  /** By their one-based place in the list, in order. */
  readonly entries: ReadonlyMap<number, PlaylistEntry>;
  /** `List/007 - Artist - Title.mp4`. */
  pathOf(number: number, naming: Naming, fileExtension: string): string;
  /** The entries with their links, and the reasons of missing ones. */
  indexFile(results: readonly EntryResult[]): IndexFile;
}

/** Bytes of the two names in a path. Windows refuses paths of more than 260 characters, with those of the folders above. */
const MAX_FOLDER_BYTES = 80;
const MAX_ENTRY_BYTES = 120;

/** The first date that ZIP can express: the bytes of an archive do not depend on the clock. */
export const UNKNOWN_DATE = new Date(Date.UTC(1980, 0, 1));

/**
 * All files are in one folder, so that extracting adds one name to the present folder. Its name and theirs have no
 * separators, and begin with no dot: no entry leaves it. Numbers make the names unique. They count entries that are not
 * available, too.
 * @throws InvalidParameter when the list has no entry of the number `from` or a higher one
 */
export function listContents(list: ArchivedList, from: number): ArchiveContents {
  const unavailable = new Set(list.unavailable);
  let last = 0;
  const all = list.entries.map((entry) => {
    do last += 1;
    while (unavailable.has(last));
    return [last, entry] as const;
  });
  if (last < from) throw new InvalidParameter(`The last entry of the list is number ${last}.`);
  const entries = new Map(all.filter(([number]) => number >= from));
  const folder = fileName(list, '', MAX_FOLDER_BYTES);
  const digits = Math.max(2, String(last).length);
  return {
    list,
    entries,
    pathOf: (number, naming, fileExtension) =>
      `${folder}/${String(number).padStart(digits, '0')} - ${fileName(naming, fileExtension, MAX_ENTRY_BYTES)}`,
    indexFile(results) {
      const text = indexText(list, entries, results);
      return { path: `${folder}/index.txt`, size: Buffer.byteLength(text), modifiedAt: UNKNOWN_DATE, text };
    },
  };
}

function indexText(
  { title, url, entries: { length }, unavailable = [], isCut }: ArchivedList,
  entries: ArchiveContents['entries'],
  results: readonly EntryResult[],
): string {
  const missing = results.filter((result) => 'reason' in result).length;
  const lines = results.flatMap((result) => {
    const { title: entryTitle, url: entryUrl } = entries.get(result.number) ?? { title: null, url: '' };
    const isMissing = 'reason' in result;
    const name = isMissing ? entryTitle : result.path.slice(result.path.indexOf('/') + 1);
    return [
      '',
      `${result.number}. ${oneLine(name ?? 'Untitled')}`,
      `   ${oneLine(entryUrl)}`,
      ...(isMissing ? [`   MISSING: ${oneLine(result.reason)}`] : []),
    ];
  });
  const head = [
    oneLine(title ?? 'Untitled'),
    oneLine(url),
    `${length + unavailable.length} entries in the list, ${results.length - missing} in this archive, ${missing} missing`,
    ...(unavailable.length > 0 ? [`Gone, private or protected at the source: ${unavailable.join(', ')}`] : []),
    ...(isCut ? ['The list is longer: this is as much of a list as the server resolves'] : []),
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}

/** Titles come from the source: without line breaks, they cannot imitate lines of the index. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** The reason of a failure, as in the response to a stream of the entry. */
export function reasonOf(error: unknown): string {
  const { title, detail } = toProblem(error).details;
  return detail ? `${title}. ${detail}` : title;
}
