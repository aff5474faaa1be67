import { toProblem } from '../../../core/api/index.ts';
import type { ArchivedList } from '../../../core/state/index.ts';
import { entryNumbers } from './entry-names.ts';

/** The path of an entry of the list, or the reason why it is missing. */
export type EntryResult = { readonly index: number } & ({ readonly path: string } | { readonly reason: string });

/** The last file of an archive: its entries with their links, and the reasons of missing ones. */
export function indexText(list: ArchivedList, results: readonly EntryResult[]): string {
  const { title, url, entries, unavailable = [], isCut } = list;
  const numbers = entryNumbers(list);
  const missing = results.filter((result) => 'reason' in result).length;
  const lines = results.flatMap((result) => {
    const { title: entryTitle, url: entryUrl } = entries[result.index] ?? { title: null, url: '' };
    const isMissing = 'reason' in result;
    const name = isMissing ? entryTitle : result.path.slice(result.path.indexOf('/') + 1);
    return [
      '',
      `${numbers[result.index]}. ${oneLine(name ?? 'Untitled')}`,
      `   ${oneLine(entryUrl)}`,
      ...(isMissing ? [`   MISSING: ${oneLine(result.reason)}`] : []),
    ];
  });
  const head = [
    oneLine(title ?? 'Untitled'),
    oneLine(url),
    `${entries.length + unavailable.length} entries in the list, ${results.length - missing} in this archive, ${missing} missing`,
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
