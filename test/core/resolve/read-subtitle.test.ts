import { describe, expect, it } from 'vitest';
import { UpstreamError, UrlExpired } from '../../../core/errors/index.ts';
import { createFixture, type Info, item, origin, PAGE } from './fixture.ts';

const NEVER = new AbortController().signal;
const withFile = (path: string, more: Info = {}): Info =>
  item('1', { subtitles: { en: [{ url: origin.url(path), ext: 'vtt', ...more }] } });

/** Reads the subtitles of an item. The last one of `found` is what each further resolve finds. */
async function read(found: readonly Info[], files: Record<string, Info> = {}, signal = NEVER) {
  const answers: Record<string, Info> = { ...files };
  let times = 0;
  Object.defineProperty(answers, PAGE, { get: () => found[Math.min(times++, found.length - 1)] });
  const { resolver, resource, extracted } = createFixture(answers);
  const stored = await resource();
  const [subtitle] = stored.subtitles ?? [];
  const cues = await resolver.readSubtitle(stored, subtitle ?? expect.fail('No subtitles'), signal, 'client');
  return { cues, extracted };
}

describe('readSubtitle', () => {
  it('returns the cues of a file', async () => {
    const { cues, extracted } = await read([withFile('/plain/subtitles.vtt')]);
    expect(cues[0]).toEqual({ startMs: expect.any(Number), endMs: expect.any(Number), text: expect.any(String) });
    expect(extracted).toEqual([PAGE]);
  });

  it('returns the cues of a list of segments, also behind a URL that has expired', async () => {
    const protocol = 'm3u8_native';
    const found = ['/plain/subtitles.gone', '/plain/subtitles.m3u8'].map((path) => withFile(path, { protocol }));
    const { cues, extracted } = await read(found);
    expect(cues).toEqual([
      { startMs: 1000, endMs: 2500, text: 'Hola' },
      { startMs: 5000, endMs: 6000, text: 'Adiós' },
    ]);
    expect(extracted).toEqual([PAGE, PAGE]);
  });

  it('resolves again when the URL has expired', async () => {
    const { cues, extracted } = await read([withFile('/plain/subtitles.gone'), withFile('/plain/subtitles.vtt')]);
    expect(cues.length).toBeGreaterThan(0);
    expect(extracted).toEqual([PAGE, PAGE]);
  });

  it('fails when the new URL has expired too', async () => {
    await expect(read([withFile('/plain/subtitles.gone')])).rejects.toThrow(UrlExpired);
  });

  it('is not offered for the segments of a live stream', async () => {
    const live = { ...withFile('/plain/subtitles.m3u8', { protocol: 'm3u8_native' }), is_live: true };
    expect((await createFixture({ [PAGE]: live }).resource()).subtitles).toBeUndefined();
  });

  it.each([
    ['what is not a subtitle file', '/plain/text', /not a subtitle file/],
    ['a file that is too large', '/plain/subtitles.huge', /too large/],
    ['segments of media', '/hls/ts/index.m3u8', /not a subtitle file/],
    ['encrypted segments', '/hls/aes/index.m3u8', /No list of plain text/],
  ])('refuses %s', async (_, path, message) => {
    const protocol = path.endsWith('.m3u8') ? 'm3u8_native' : 'https';
    const failure = await read([withFile(path, { protocol })]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('reads as a browser what the site serves to browsers alone', async () => {
    const url = origin.url('/plain/subtitles.gone');
    const file = Buffer.from('WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n').toString('base64');
    const { cues } = await read([withFile('/plain/subtitles.gone', { impersonate: true })], {
      [`${url}#reelay-subtitle`]: { reelay_file: file },
    });
    expect(cues).toEqual([{ startMs: 1000, endMs: 2000, text: 'Hello' }]);
  });

  it('ends with its caller', async () => {
    await expect(read([withFile('/plain/subtitles.vtt')], {}, AbortSignal.abort(new Error('left')))).rejects.toThrow(
      'left',
    );
  });
});
