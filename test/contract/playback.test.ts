import { describe, expect, it } from 'vitest';
import type { Playback, PlaybackTrack } from '../../clients/reelay-client/src/api-types.ts';
import { SECONDS } from '../origin/recipes.ts';
import { probeBody } from '../support/media-tools.ts';
import { expectSeekable } from '../support/seekable.ts';
import { renditionOf } from './stream-helpers.ts';
import { type Problem, useTarget } from './target.ts';
import { ALLOWED_ORIGINS } from './target-settings.ts';

const target = useTarget();
const OPERATION = '/api/Fetch/GetPlayback';
const pathOf = (path: string) => target.pathOf('Fetch/GetPlayback', path);

async function getPlayback(path: string): Promise<Playback> {
  const answer = await target.get(pathOf(path));
  expect(answer.status).toBe(200);
  return target.api.expectAnswer('GET', OPERATION, answer) as Playback;
}

const expectTrack = async ({ path, mimeType, fileSizeBytes }: PlaybackTrack, isExact = true): Promise<Buffer> => {
  const { headers, body } = await expectSeekable(target.baseUrl + path);
  expect([headers['content-type'], isExact ? body.length : null]).toEqual([mimeType, isExact ? fileSizeBytes : null]);
  return body;
};

describe('GET /api/Fetch/GetPlayback', () => {
  it('has video and audio that play side by side, each seekable by its own key', async () => {
    const { video, audio, ...item } = await getPlayback('/site/open/playback');
    expect(item).toMatchObject({
      requestedUrl: target.origin.url('/site/open/playback'),
      author: 'Ärtist Example',
      coverUrl: expect.stringContaining('square.jpg'),
      durationSeconds: expect.closeTo(SECONDS.ladder, 0),
    });
    const kinds = video.map(({ height, contentType }) => `${height} ${contentType}`);
    expect(kinds).toEqual(
      expect.arrayContaining([
        '720 video/mp4; codecs="avc1.42c01f"',
        '360 video/mp4; codecs="avc1.42c01e"',
        '360 video/webm; codecs="vp09.00.10.08"',
      ]),
    );
    // GetResource has no rendition of the video alone.
    const { resource } = await target.resolve('/site/open/playback');
    const listed = resource.mediaItems[0]?.video?.renditions.map(({ key }) => key);
    for (const track of video) {
      expect(listed).not.toContain(track.key);
      const { codecs } = await probeBody(await expectTrack(track), track.mimeType.replace('video/', '.'));
      expect(codecs).toHaveLength(1);
    }
    expect(audio.map(({ contentType }) => contentType)).toEqual([
      expect.stringMatching(/^audio\/(mp4; codecs="mp4a\.40\.2"|webm; codecs="opus")$/),
      ...audio.slice(1).map(() => expect.stringMatching(/^audio\//)),
    ]);
    for (const track of audio) await expectTrack(track);
  });

  it('has pairs of MP4 as one seekable file, and its exact size after the first stream', async () => {
    const { muxed } = await getPlayback('/site/open/playback-pairs');
    const [best, ...others] = muxed;
    expect(best?.contentType).toBe('video/mp4; codecs="avc1.42c01f, mp4a.40.2"');
    for (const { mimeType } of others) expect(mimeType).toBe('video/mp4');
    const bytes = await expectTrack(best as PlaybackTrack, false);
    const { codecs, durationSeconds } = await probeBody(bytes, '.mp4');
    expect(codecs).toEqual(['h264', 'aac']);
    expect(durationSeconds).toBeCloseTo(SECONDS.ladder, 0);
    await expect
      .poll(async () => (await getPlayback('/site/open/playback-pairs')).muxed[0]?.fileSizeBytes)
      .toBe(bytes.length);
  });

  it.each([
    ['/site/combined/playback', 0, 2],
    ['/files/clip.mp4', 0, 1],
    ['/site/silent/playback', 2, 2],
    ['/hls/master.m3u8', 0, 1],
    ['/dash/timeline/manifest.mpd', 0, 1],
  ])('of %s has %d files of video alone and %d as they are', async (link, alone, whole) => {
    const { path } = await renditionOf(target, link);
    // The length of a list is found by a stream, and is known from then on.
    await target.get(path);
    const count = async () => {
      const { video, muxed } = await getPlayback(link);
      return [video.length, muxed.length];
    };
    await expect.poll(count).toEqual([alone, whole]);
    const { muxed } = await getPlayback(link);
    for (const track of muxed) await expectTrack(track);
  });

  // Its subtitles: lambdas/api/playback.unit, and details.test.ts by their keys.
  it('is 415 with the reason for a list, and fails as GetResource does', async () => {
    const list = await target.get(pathOf('/site/list/playback?n=2'));
    const { detail } = target.api.expectAnswer('GET', OPERATION, list) as Problem;
    expect([list.status, detail]).toEqual([415, expect.stringContaining('playlist')]);
    expect((await target.get(pathOf('/site/nothing/playback'))).status).toBe(404);
    expect((await target.get(`${OPERATION}?url=nothing`)).status).toBe(400);
    // It would resolve.
    const head = await target.get(pathOf('/site/open/playback-head'), { method: 'HEAD' });
    expect([head.status, head.headers.allow]).toEqual([405, 'GET, OPTIONS']);
  });
});

describe('a player of GetPlayback', () => {
  it('has the files of GetResource, which one without it falls back to', async () => {
    const { resource } = await target.resolve('/site/combined/player');
    const files = (resource.mediaItems[0]?.video?.renditions ?? []).map(({ key }) => `/api/Stream/Media/${key}`);
    expect(files).toHaveLength(2);
    expect((await getPlayback('/site/combined/player')).muxed.map(({ path }) => path)).toEqual(files);
  });

  it('starts a pair at a keyframe, whose time it learns by HEAD', async () => {
    const { muxed } = await getPlayback('/site/long/player');
    const path = `/api/Stream/Combined/${muxed[0]?.key}?start=123.4`;
    const origin = ALLOWED_ORIGINS[0] ?? '';
    const head = await target.get(path, { method: 'HEAD', headers: { origin } });
    expect([head.status, head.headers['accept-ranges']]).toEqual([200, 'none']);
    expect(head.headers['access-control-expose-headers']).toContain('X-Argon-Start');
    const startSeconds = Number(head.headers['x-argon-start']);
    expect(startSeconds).toBeGreaterThan(123.4 - 3);
    expect(startSeconds).toBeLessThanOrEqual(123.4);
    const { headers, body } = await target.get(path, { headers: { range: 'bytes=100-' } });
    expect([headers['x-argon-start'], headers['content-length']]).toEqual([
      head.headers['x-argon-start'],
      head.headers['content-length'],
    ]);
    const { codecs, durationSeconds } = await probeBody(body, '.mp4');
    expect([codecs, durationSeconds]).toEqual([['h264', 'aac'], expect.closeTo(SECONDS.long - startSeconds, 0)]);
  });

  it.each(['start=-1', 'start=1&start=2', 'start=9999'])('is refused %s by 400', async (query) => {
    const { muxed } = await getPlayback('/site/long/player');
    expect((await target.get(`/api/Stream/Combined/${muxed[0]?.key}?${query}`)).status).toBe(400);
  });
});
