import { describe, it } from 'vitest';
import { type SourceName, sourcesOf } from './sources.ts';
import { expectOwn, expectUnmixed, outputsOf, useTwins } from './twins.ts';

const site = useTwins();
const rows = Object.keys(sourcesOf('ac3')) as SourceName[];

describe('two sources that agree in all but their bytes', () => {
  it.each(rows)('%s: each client gets its own', (row) =>
    expectOwn(site, row, outputsOf(row), row === 'live window' ? 3 : 8),
  );
});

describe('two versions of one source', () => {
  const validators = {
    'of other ETags': (version: number) => `"${version}"`,
    'of one ETag': () => '"same"',
    'without validators': () => null,
  };
  const cases = rows.flatMap((row) => Object.entries(validators).map(([name, etagOf]) => [row, name, etagOf] as const));
  it.each(cases)('%s, %s, are never joined', async (row, _, etagOf) => {
    // Other conversions are read and kept as MP3 is.
    for (const path of ['Media/KEY', 'Media/KEY?format=mp3'].filter((each) => outputsOf(row).includes(each)))
      await expectUnmixed(site, sourcesOf('ac3')[row], path, etagOf);
  });
});
