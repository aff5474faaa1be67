import { describe, it } from 'vitest';
import { expectOwn, expectUnmixed, type Kind } from './twins-fixture.ts';

const KINDS: readonly Kind[] = ['a fragmented pair', 'HLS of TS', 'HLS of MP4', 'DASH', 'packed MP3', 'a pair of WebM'];

describe('two sources that agree in all but their bytes', () => {
  it.each(KINDS)('%s: each client gets its own', async (kind) => {
    await expectOwn(kind, ['Media/KEY'], 1);
  });

  it('each client gets its own MP3', async () => {
    await expectOwn('HLS of TS', ['Media/KEY?format=mp3'], 1);
  });
});

describe('two versions of one source', () => {
  it.each([
    ['HLS of MP4, of other ETags,', 'HLS of MP4', (version: number) => `"${version}"`],
    ['a fragmented pair, of one ETag,', 'a fragmented pair', () => '"same"'],
  ] as const)('%s are never joined', async (_, kind, etagOf) => {
    await expectUnmixed(kind, 'Media/KEY', etagOf);
  });
});
