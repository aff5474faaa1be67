import { join } from 'node:path';
import { expect, it } from 'vitest';
import { audioCriteria, partnerCriteria, videoCriteria } from '../../../../core/resolve/renditions/criteria.ts';
import { candidatesOf } from './format-lists.ts';

const HEAD = `# Ranking of renditions

Generated from \`core/resolve/renditions/criteria.ts\` by \`npx vitest run ranking-reference -u\`.

- yt-dlp lists the formats of an item. GetResource offers them best first.
- The criteria apply in order: the first that tells two formats apart decides. Where none does, yt-dlp's order stays.
- \`best\`, \`medium\` and \`worst\` are the first, the middle (\`[floor(n/2)]\`) and the last of the list.
- Silent video is left out where another rendition of the item has audio.

Get, feeds and archives take the first of the list that satisfies \`quality\` and \`codec\`. They skip a rendition with one of these flaws
where one without it ranks above: refused after its first minute, possibly protected, for browsers only, damaged, watermarked, an audio
description, a dub, or compressed in its dynamic range (DRC). Rather than select it, they give up the wish, the height last. Descriptions
name the flaws.

Of one language (\`audio=de\`, \`audio=all\`) the audio with the fewest flaws is taken, DRC included. Of equals first comes

1. what the video is paired with or contains,
2. what MP4 can hold,
3. what keeps a seekable file (MP4 with MP4),
4. AAC,
5. the order of audio-only formats, which alone decides for conversions.

The first language is the one that is named as the original, else one that is no dub.

A reason stands where its criterion comes first.
`;

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

it('docs/ranking.md lists the criteria', async () => {
  const [video] = candidatesOf({ formats: [{ format_id: 'v', protocol: 'https', acodec: 'none' }] });
  const text = [
    HEAD,
    table('Formats with video', videoCriteria),
    table('Audio-only formats, and the source of conversions', audioCriteria),
    table('The audio of a video without audio', video ? partnerCriteria(video) : []),
  ].join('\n');
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, '../../../../docs/ranking.md'));
});
