import { describe, expect, it } from 'vitest';
import { type ReceivedResponse, sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { type FolderSite, useFolderSite } from '../folder-site.ts';
import { type Promised, type PromiseName, promises } from './promises.ts';
import { recipesOf, type Source, type SourceName, sourcesOf, VARIANTS, variantsOf } from './sources.ts';
import { useStreams } from './use-streams.ts';

/** Another outcome: a status, all of it without a length, the same as the whole, or nothing to ask for. */
type Outcome = number | 'no length' | 'as it is' | 'left out';

const SENT_AS_IT_IS = 'A file that is sent as it is holds nothing else';
/** By `ROW > COLUMN`, each with its reason. */
const exceptions: Readonly<Record<string, readonly [outcome: Outcome, why: string]>> = {
  'file > tags': ['as it is', SENT_AS_IT_IS],
  'WebM file > tags': ['as it is', SENT_AS_IT_IS],
  'WebM file > mark': [415, SENT_AS_IT_IS],
  'WebM file > subtitles': [415, SENT_AS_IT_IS],
  'WebM file > combined': ['left out', 'Combined is MP4, which the whole is not'],
  'WebM file > copied': ['no length', 'The sound of WebM is laid out as parts alone'],
  'WebM pair > copied': ['no length', 'The sound of WebM is laid out as parts alone'],
  'HLS of TS > copied': ['no length', 'The sound of MPEG-TS is laid out as parts alone'],
  'packed audio > seek': ['left out', 'It has no pictures to keep'],
  'packed audio > subtitles': [415, 'Sound shows no text'],
  'packed audio > all languages': [400, 'Sound offers no choice'],
  'fragmented pair > seek': ['left out', 'FFmpeg takes the places of its sound from the index: seeks.all'],
  'open groups in TS > clip': ['left out', 'Its first pictures refer to those before it'],
  'open groups in MP4 > clip': ['left out', 'Its first pictures refer to those before it'],
  'TS without sound > clip': ['left out', 'Its sound is compared'],
  'TS without sound > seek': ['left out', 'Its sound is compared'],
  'TS of AAC > seek': ['left out', 'It has no pictures to keep'],
  'TS of MP3 > seek': ['left out', 'It has no pictures to keep'],
  'live window > combined': ['left out', 'Combined goes on as long as the stream'],
  'live window > chapter': [400, 'A window is a part already'],
  'live window > skip': ['left out', 'Parts are reported of recordings'],
  'live window > mark': ['left out', 'Parts are reported of recordings'],
  'live window > WAV': [415, 'Its size follows from the duration'],
  'live window > keyframe': [400, 'Combined goes on as long as the stream'],
  'live window > HLS': ['left out', 'It rolls'],
  'live window > ZIP': [415, 'It has no end'],
};

type Cells<Row extends string> = readonly (readonly [row: Row, columns: readonly PromiseName[]])[];
const columns = Object.keys(promises) as PromiseName[];

/** The cells of `npm test`: what every row begins with, and each other column once, on a row that is unlike the others. */
export const GATE: Cells<SourceName> = (
  [
    ['file', ['copied']],
    ['pair', ['combined', 'WAV', 'HLS']],
    ['fragmented pair', ['clip', 'another file midway']],
    ['HLS of TS', ['skip', 'drop and resume', 'MP3 clip']],
    ['HLS of MP4', ['subtitles', 'expiry and renewal']],
    ['two lists of MP4', ['tags', 'all languages']],
    ['DASH', ['mark', 'copied clip', 'ZIP']],
    ['packed audio', ['MP3']],
    ['WebM pair', ['language', 'keyframe']],
    ['WebM file', ['chapter']],
    ['live window', []],
  ] as const
).map(([row, more]) => [row, ['whole', 'other processes', ...more]]);

function testCells<Row extends string>(
  site: FolderSite,
  sources: Readonly<Record<Row, Source>>,
  cells: Cells<Row>,
): void {
  describe.each(cells)('%s', (row, asked) => {
    /** It is the same in every test. */
    let sent: Promise<ReceivedResponse> | undefined;
    it.each(asked.filter((column) => exceptions[`${row} > ${column}`]?.[0] !== 'left out'))('%s', async (column) => {
      const source = sources[row];
      const { path, cache = 'public', holds }: Promised = promises[column];
      const [outcome] = exceptions[`${row} > ${column}`] ?? [];
      const streams = await useStreams(site, source);
      const process = await streams.start();
      const whole = () => {
        sent ??= sendRequest(process.at('Media/KEY'));
        return sent;
      };
      const cell = { site, source, streams, process, whole };
      const url = process.at(path.replace('FORMAT', source.codecs.includes('opus') ? 'opus' : 'm4a'));
      if (outcome === undefined && cache !== 'none')
        return holds(await expectSeekable(url, { cache: source.isLive ? 'no-store' : cache }), cell);
      const answer = await sendRequest(url);
      const { status, headers, body } = answer;
      const expected = typeof outcome === 'number' ? outcome : 200;
      expect([status, status === expected ? '' : body.toString()]).toEqual([expected, '']);
      if (outcome === 'as it is') expect(body.equals((await whole()).body)).toBe(true);
      if (outcome === 'no length')
        expect([headers['accept-ranges'], headers['content-length']]).toEqual(['none', undefined]);
      if (outcome === undefined || outcome === 'no length') await holds(answer, cell);
    });
  });
}

/** Tests cells of the matrix. */
export const describeCells = (cells: Cells<SourceName>): void =>
  testCells(useFolderSite(recipesOf(400, 'aac'), recipesOf(900, 'aac')), sourcesOf('aac'), cells);

/** The cells of rows that the gate has not. */
export function describeRows(...rows: readonly SourceName[]): void {
  const shown = new Map(GATE);
  describeCells(rows.map((row) => [row, columns.filter((column) => !shown.get(row)?.includes(column))]));
}

/** Variants of rows, for columns that read their source in another way. */
export function describeVariants(): void {
  const [common, variants] = [['whole', 'other processes', 'clip', 'seek'] as const, variantsOf()];
  const names = Object.keys(variants) as (keyof typeof variants)[];
  testCells(
    useFolderSite(VARIANTS, VARIANTS),
    variants,
    names.map((name) => [name, common]),
  );
}
