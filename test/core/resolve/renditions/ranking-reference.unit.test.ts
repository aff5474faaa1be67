import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { audioCriteria, partnerCriteria, videoCriteria } from '../../../../core/resolve/renditions/criteria.ts';
import { candidatesOf } from './format-lists.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/ranking.md');

interface Row {
  readonly name: string;
  readonly reason: string;
}

const explained = new Set<string>();

function table(title: string, criteria: readonly Row[]): string {
  const rows = criteria.map(({ name, reason }, index) => {
    const isExplained = explained.has(name);
    explained.add(name);
    return `| ${index + 1} | ${name} | ${isExplained ? '' : reason} |`;
  });
  return [`## ${title}`, '', '| | What comes first | Reason |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** What stands before the first table is written by hand. */
it('docs/ranking.md lists the criteria', async () => {
  const [video] = candidatesOf({ formats: [{ format_id: 'v', protocol: 'https', acodec: 'none' }] });
  const text = [
    readFileSync(DOCUMENT, 'utf8').split('\n## ', 1)[0],
    table('Formats with video', videoCriteria),
    table('Audio-only formats, and the source of conversions', audioCriteria),
    table('The audio of a video without audio', video ? partnerCriteria(video) : []),
  ].join('\n');
  await expect(text).toMatchFileSnapshot(DOCUMENT);
});
