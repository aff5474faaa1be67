import { describe, it } from 'vitest';
import { type SourceName, sourcesOf } from './sources.ts';
import { expectOwn, expectUnmixed, useTwins } from './twins.ts';

const site = useTwins();
const rows: readonly SourceName[] = ['fragmented pair', 'HLS of TS', 'HLS of MP4', 'DASH', 'packed MP3', 'WebM pair'];

describe('two sources that agree in all but their bytes', () => {
  it.each([...rows.map((row) => [row, 'Media/KEY'] as const), ['HLS of TS', 'Media/KEY?format=mp3'] as const])(
    '%s: each client gets its own %s',
    (row, path) => expectOwn(site, row, [path], 1),
  );
});

describe('two versions of one source', () => {
  it.each([
    ['HLS of MP4', 'other ETags', (version: number) => `"${version}"`],
    ['fragmented pair', 'one ETag', () => '"same"'],
  ] as const)('%s, of %s, are never joined', (row, _, etagOf) =>
    expectUnmixed(site, sourcesOf('ac3')[row], 'Media/KEY', etagOf),
  );
});
