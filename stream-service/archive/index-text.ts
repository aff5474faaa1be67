import { toProblem } from '../../core/api/index.ts';
import type { ArchivedList } from '../../core/state/index.ts';

/** What became of an entry of the list. */
export type EntryResult = { readonly index: number } & ({ readonly path: string } | { readonly reason: string });

/** The last file of an archive: its entries with their links, and why those are missing that are. */
export function indexText({ title, url, entries }: ArchivedList, results: readonly EntryResult[]): string {
  const missing = results.filter((result) => 'reason' in result);
  const lines = results.flatMap((result) => {
    const { title: entryTitle, url: entryUrl } = entries[result.index] ?? { title: null, url: '' };
    const isMissing = 'reason' in result;
    const name = isMissing ? entryTitle : result.path.slice(result.path.indexOf('/') + 1);
    return [
      '',
      `${result.index + 1}. ${oneLine(name ?? 'Untitled')}`,
      `   ${oneLine(entryUrl)}`,
      ...(isMissing ? [`   MISSING: ${oneLine(result.reason)}`] : []),
    ];
  });
  const head = [
    oneLine(title ?? 'Untitled'),
    oneLine(url),
    `${entries.length} entries in the list, ${results.length - missing.length} in this archive, ${missing.length} missing`,
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}

/** Titles are the source's own words: without line breaks, they cannot imitate lines of the index. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** Why an entry failed, as a response would say it. */
export function reasonOf(error: unknown): string {
  const { title, detail } = toProblem(error).details;
  return detail ? `${title}. ${detail}` : title;
}
