import { brotliCompressSync, constants } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Resource, Subtitle, Track } from '../../../core/state/resource.ts';
import type { Opening } from '../../../stream-service/outputs/representation.ts';
import { createEmbeddedSubtitles } from '../../../stream-service/outputs/text.ts';

const opening = {
  session: { client: 'client', signal: new AbortController().signal },
  openSource: () => Promise.reject(new Error('It is stored already')),
} as unknown as Opening;

const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

/** Stored subtitles of one cue each, by language, and how often the table was read. */
function createFixture(textBytes: number) {
  const read: string[] = [];
  const subtitles = createEmbeddedSubtitles({
    state: {
      async getAttachment(_, name) {
        read.push(name);
        const cues = [{ startMs: 0, endMs: 1000, text: 'x'.repeat(textBytes) }];
        return brotliCompressSync(JSON.stringify(cues), QUICK);
      },
      putAttachment: () => Promise.reject(new Error('It is stored already')),
    },
  });
  const stored = (language: string) => {
    const subtitle: Subtitle = { id: language, formatId: language, language, isAutomatic: false };
    return subtitles.find({ id: 'resource' } as Resource, { subtitle, track: {} as Track }, opening);
  };
  return { read, stored };
}

describe('the cache of embedded subtitles', () => {
  it('reads those of a film once, and what takes more memory than a cache may have each time', async () => {
    const film = createFixture(200_000);
    for (const _ of [1, 2]) expect((await film.stored('en')).cues[0]?.text).toHaveLength(200_000);
    expect(film.read).toEqual(['subtitle-en']);
    const large = createFixture(9_000_000);
    for (const _ of [1, 2]) await large.stored('en');
    expect(large.read).toEqual(['subtitle-en', 'subtitle-en']);
  });

  it('releases what nothing has used for half a minute, beyond a few megabytes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { read, stored } = createFixture(500_000);
    for (const language of ['de', 'en', 'es']) await stored(language);
    vi.advanceTimersByTime(30_000);
    read.length = 0;
    for (const language of ['es', 'en', 'de']) await stored(language);
    expect(read).toEqual(['subtitle-de']);
  });
});
