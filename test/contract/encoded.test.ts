import { describe, expect, it } from 'vitest';
import { SECONDS } from '../origin/recipes.ts';
import { inspect, probeBody } from '../support/media-tools.ts';
import { openResponse } from '../support/request.ts';
import { conversionOf, expectHeadOf, renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

// A link of each kind from its resolve to its stream. Every source with every output: test/stream-service/matrix.
const target = useTarget();

/** Of containers, in seconds. */
const ROUNDING = 0.15;

async function expectFilm(body: Buffer, extension: string | null, codecs: readonly string[], seconds: number) {
  const film = await inspect(body, extension ?? '');
  expect([film.codecs, film.complaints]).toEqual([codecs, '']);
  for (const { durationSeconds } of [film, ...film.streams])
    expect(Math.abs(durationSeconds - seconds), `${durationSeconds} s`).toBeLessThan(ROUNDING);
}

/** Reads the first bytes of a stream, then disconnects. */
async function begin(path: string) {
  const leaving = new AbortController();
  const { status, headers, body } = await openResponse(target.baseUrl + path, { signal: leaving.signal });
  const first: Buffer = await new Promise((resolve) => body.once('data', resolve));
  body.on('error', () => undefined);
  leaving.abort();
  return { status, headers, type: first.toString('latin1', 4, 8) };
}

describe('Combined', () => {
  it.each([
    ['/site/watch/x', 'h264-720', 'aac'],
    ['/site/open/x', 'vp9-360', 'aac'],
    // FFmpeg muxes it.
    ['/site/mp3-only/x', 'h264-360', 'mp3'],
    ['/hls/master.m3u8', 'h264', 'aac'],
    ['/dash/timeline/manifest.mpd', 'h264', 'aac'],
  ])('sends %s %s with %s as one MP4 without ranges', async (link, format, sound) => {
    const matches = ({ description }: { description: string | null }) =>
      !link.startsWith('/site/') || (description ?? '').includes(format);
    const { path, urlType } = await renditionOf(target, link, 'video', matches);
    expect(urlType).toBe('Combined');
    const { status, headers, body } = await target.get(path, { headers: { range: 'bytes=100-' } });
    expect([status, headers]).toMatchObject([
      200,
      {
        'content-type': 'video/mp4',
        'accept-ranges': 'none',
        'content-disposition': expect.stringMatching(/^attachment; filename="?[^"]*\.mp4/),
        'x-content-type-options': 'nosniff',
      },
    ]);
    const isLaidOut = sound !== 'mp3';
    expect(headers['content-length']).toBe(isLaidOut ? String(body.length) : undefined);
    expect(headers['content-location']).toBe(isLaidOut ? path.replace('Combined', 'Media') : undefined);
    if (!isLaidOut) {
      const estimate = Number(headers['estimated-content-length']) / body.length;
      expect([estimate > 0.9, estimate < 1.2], `${estimate} of the size`).toEqual([true, true]);
    }
    await expectFilm(body, '.mp4', [format.split('-')[0] ?? '', sound], SECONDS.ladder);
  });

  it.each(['/site/open/head-only', '/site/unsized/head'])(
    'answers HEAD of %s with the headers of GET, from the headers of both files, read once',
    async (link) => {
      const { path } = await renditionOf(target, link);
      const requests = () => target.origin.requestsTo('/site-media/').length;
      const before = requests();
      const first = await target.get(path, { method: 'HEAD' });
      const after = requests();
      expect(after).toBeLessThanOrEqual(before + 4);
      expect((await target.get(path, { method: 'HEAD' })).headers['content-length']).toBe(
        first.headers['content-length'],
      );
      expect(requests()).toBe(after);
      const { headers, body } = await expectHeadOf(target, path);
      expect([headers['content-length'], first.headers['content-length']]).toEqual([
        String(body.length),
        String(body.length),
      ]);
    },
  );

  it('sends the first bytes before a slow source has ended', async () => {
    const { path } = await renditionOf(target, '/hls/master.m3u8');
    expect((await begin(path)).type).toBe('ftyp');
  });
});

describe('HLS and DASH', () => {
  it.each([
    ['/site/hls-referer/x', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/aes/index.m3u8', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/master.m3u8', 'audio', ['aac'], SECONDS.ladder],
    ['/dash/number/manifest.mpd', 'audio', ['aac'], SECONDS.ladder],
  ] as const)('sends %s (%s) as one MP4 file with ranges', async (link, side, codecs, seconds) => {
    const { path, mimeType, fileExtension } = await renditionOf(target, link, side);
    const { status, headers, body } = await target.get(path);
    const length = String(body.length);
    expect([status, headers]).toMatchObject([
      200,
      { 'content-type': mimeType, 'accept-ranges': 'bytes', 'content-length': length },
    ]);
    const range = { range: 'bytes=100-', 'if-range': headers.etag as string };
    const rest = await target.get(path, { headers: range });
    expect([rest.status, rest.body.equals(body.subarray(100))]).toEqual([206, true]);
    await expectFilm(body, fileExtension, codecs, seconds);
  });
});

describe('format=mp3', () => {
  it.each([
    ['/files/clip.webm', SECONDS.clip],
    ['/files/tone.ogg', SECONDS.clip],
    ['/files/tone.flac', SECONDS.clip],
    ['/files/tone.wav', SECONDS.clip],
    ['/site/watch/x', SECONDS.ladder],
    ['/hls/ts/index.m3u8', SECONDS.clip],
    ['/dash/number/manifest.mpd', SECONDS.ladder],
  ])('of %s has the promised size and the duration of the source', async (link, seconds) => {
    const { path, fileSizeBytes } = await sizedConversionOf(target, link);
    const { headers, body } = await expectHeadOf(target, path);
    expect([headers['content-type'], headers['content-length']]).toEqual(['audio/mpeg', String(fileSizeBytes)]);
    expect(body).toHaveLength(fileSizeBytes ?? -1);
    await expectFilm(body, '.mp3', ['mp3'], seconds);
  });

  it('contains title and artist', async () => {
    const { path } = await conversionOf(target, '/site/combined/tags');
    const { tags } = await probeBody((await target.get(path)).body, '.mp3');
    expect(tags).toMatchObject({ title: 'Größe “tags”: eins/zwei', artist: 'Ärtist Example' });
  });

  it.each([0, 1, 2])('converts every Media rendition with audio, not only the offered one: %i', async (place) => {
    let seen = 0;
    const { key } = await renditionOf(target, '/site/open/x', 'audio', () => seen++ === place);
    const { status, body } = await target.get(`/api/Stream/Media/${key}?format=mp3`);
    expect([status, (await probeBody(body, '.mp3')).codecs]).toEqual([200, ['mp3']]);
  });
});

describe('live', () => {
  it.each([
    ['/live/index.m3u8', 'video', 'video/mp4'],
    ['/site/live/x', 'video', 'video/mp4'],
    ['/live/radio.mp3', 'audio', 'audio/mpeg'],
  ] as const)('sends %s (%s) from the live position, without length and ranges', async (link, side, mimeType) => {
    const { path } = await renditionOf(target, link, side);
    const { status, headers, type } = await begin(path);
    expect([status, headers]).toMatchObject([200, { 'content-type': mimeType, 'accept-ranges': 'none' }]);
    expect(headers).not.toHaveProperty('content-length');
    if (side === 'video') expect(type).toBe('ftyp');
  });
});
