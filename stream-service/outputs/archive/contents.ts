import { isSelected, type Selection, toProblem } from '../../../core/api/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import { type ListFileNames, listFileNames, oneLine } from '../../../core/http/index.ts';
import { numberEntries } from '../../../core/resolve/index.ts';
import type { ArchivedList, PlaylistEntry } from '../../../core/state/index.ts';

/** The path of an entry within the archive, or the reason why it is missing. */
export type EntryResult = { readonly number: number } & ({ readonly path: string } | { readonly reason: string });

/** The last file of an archive. */
export interface IndexFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  readonly text: string;
}

/** What an archive contains: entries of a list, and an index of them. */
export interface ArchiveContents extends Pick<ListFileNames, 'pathOf'> {
  readonly list: ArchivedList;
  /** By their one-based place in the list, in order. */
  readonly entries: ReadonlyMap<number, PlaylistEntry>;
  /** The entries with their links, and the reasons of missing ones. */
  indexFile(results: readonly EntryResult[]): IndexFile;
}

/** The first date that ZIP can express: the bytes of an archive do not depend on the clock. */
export const UNKNOWN_DATE = new Date(Date.UTC(1980, 0, 1));

/**
 * Numbers count entries that are not available, too.
 * @throws InvalidParameter when none of the entries has the number `from` or a higher one
 */
export function listContents(list: ArchivedList, { from = 1 }: Pick<Selection, 'from'>): ArchiveContents {
  const all = [...numberEntries(list.entries, list.unavailable)];
  const last = all.at(-1)?.[0] ?? 0;
  const entries = new Map(all.filter(([number]) => number >= from && isSelected(number, list.selected)));
  if (entries.size === 0) throw new InvalidParameter(`The last entry of the list is number ${last}.`);
  const { pathOf, folder } = listFileNames(list, last);
  return {
    list,
    entries,
    pathOf,
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

/** The reason of a failure, as in the response to a stream of the entry. */
export function reasonOf(error: unknown): string {
  const { title, detail } = toProblem(error).details;
  return detail ? `${title}. ${detail}` : title;
}
