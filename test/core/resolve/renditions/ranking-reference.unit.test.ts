import { join } from 'node:path';
import { expect, it } from 'vitest';
import { audioCriteria, partnerCriteria, videoCriteria } from '../../../../core/resolve/renditions/criteria.ts';
import { candidatesOf } from './format-lists.ts';

const HEAD = `# Ranking of renditions

Generated from \`core/resolve/renditions/criteria.ts\` by \`npx vitest run ranking-reference -u\`.

yt-dlp lists the formats of an item; GetResource offers them best first. The criteria below are applied in order: the first
that tells two formats apart decides, and where none does, yt-dlp's own order stays. \`best\`, \`medium\` and \`worst\` are the
first, the middle (\`[floor(n/2)]\`) and the last of the list. Video that would be silent is left out where another rendition
of the item has audio.

Get, feeds and archives choose from the same list: the first that satisfies the wish (\`quality\`, \`codec\`). A wish is a filter.
It never selects what is refused after its first minute, possibly protected, for browsers only, damaged or unplayable, watermarked, an audio description, a
dub, or compressed in its dynamic range (DRC) where a rendition without that flaw ranks above it: then it is given up
instead, the height last. These flaws are stored with the renditions, and descriptions name them for clients that choose
by themselves, such as the page.

Of a language that is asked for (\`audio=de\`, \`audio=all\`), the audio with the least flaws is taken, DRC included. Of equals, that
comes first which the video is paired with or contains, then what MP4 can hold, what keeps a seekable file (MP4 with MP4), AAC,
and the order of audio-only formats. For conversions, that order alone decides. The first language is the one that is named as the
original, else one that is no dub.
`;

interface Row {
  readonly name: string;
  readonly reason: string;
}

const table = (title: string, criteria: readonly Row[]) =>
  [
    `## ${title}`,
    '',
    '| | What comes first | Reason |',
    '| --- | --- | --- |',
    ...criteria.map(({ name, reason }, index) => `| ${index + 1} | ${name} | ${reason} |`),
    '',
  ].join('\n');

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
