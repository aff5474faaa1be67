import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { audioCriteria, partnerCriteria, videoCriteria } from '../../../../core/resolve/renditions/criteria.ts';
import { candidatesOf } from './format-lists.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/ranking.md');

const document = readFileSync(DOCUMENT, 'utf8');
const listed = new Set<string>();

/** Reasons are written by hand, where a criterion comes first. */
function table(title: string, criteria: readonly { readonly name: string }[]): string {
  const rows = criteria.map(({ name }, index) => {
    const row = document.split('\n').find((line) => line.includes(` | ${name} | `));
    const reason = row?.split(' | ')[2] ?? expect.fail(`docs/ranking.md has no reason for ${name}`);
    const isFirst = listed.size < listed.add(name).size;
    return `| ${index + 1} | ${name} | ${isFirst ? reason : ' |'}`;
  });
  return [`## ${title}`, '', '| | What comes first | Reason |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** What stands before the first table is written by hand. */
it('docs/ranking.md lists the criteria', async () => {
  const [video] = candidatesOf({ formats: [{ format_id: 'v', protocol: 'https', acodec: 'none' }] });
  const text = [
    document.split('\n## ', 1)[0],
    table('Formats with video', videoCriteria),
    table('Audio-only formats, and the source of conversions', audioCriteria),
    table('The audio of a video without audio', video ? partnerCriteria(video) : []),
  ].join('\n');
  await expect(text).toMatchFileSnapshot(DOCUMENT);
});
