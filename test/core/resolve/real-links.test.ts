import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../core/state/resource.ts';
import { type MediaInformation, toResourceInformation } from '../../../lambdas/api/get-resource.ts';
import { asProblem } from '../../support/as-problem.ts';
import { startResolver } from './start-resolver.ts';

/** Links of the test origin through the real yt-dlp and the real egress. */
const { origin, resolver } = await startResolver({
  pluginDirs: [fileURLToPath(new URL('../../origin/plugin', import.meta.url))],
});

const resolve = async (path: string, seconds = 20) => {
  const resolved = await resolver.resolve(origin.url(path), { deadline: Date.now() + seconds * 1000 });
  return { resolved, information: toResourceInformation(resolved, path) };
};
const single = async (path: string): Promise<Resource> => {
  const { resolved } = await resolve(path);
  if (resolved.type !== 'Media') throw new Error('Not one item');
  return resolved.resource;
};
/** `label type .extension` of each rendition, an arrow before what it converts to. */
const sides = ({ video, audio }: MediaInformation) =>
  [video, audio].map((side) =>
    side?.renditions.map(({ label, urlType, fileExtension, convertTo }) =>
      [label, convertTo ? `→ ${convertTo}` : urlType, fileExtension].join(' '),
    ),
  );
const offered = async (path: string) => {
  const { mediaItems } = (await resolve(path)).information;
  return mediaItems[0] && sides(mediaItems[0]);
};

const MP3 = '192 kbps → mp3 .mp3';

describe('a direct file', () => {
  it.each([
    ['/files/clip.mp4', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/files/clip-tail.mp4', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/files/clip.webm', ['180p Media .webm'], ['180p Media .webm', MP3]],
    ['/files/clip.mkv', ['180p Media .mkv'], ['180p Media .mkv', MP3]],
    ['/files/silent.mp4', ['180p Media .mp4'], undefined],
    ['/files/tone.m4a', undefined, [expect.stringMatching(/^\d+ kbps Media \.m4a$/), MP3]],
    ['/files/tone.mp3', undefined, [expect.stringMatching(/^\d+ kbps Media \.mp3$/)]],
    ['/files/tone.ogg', undefined, [expect.stringMatching(/^\d+ kbps Media \.ogg$/), MP3]],
    ['/files/tone.webm', undefined, [expect.stringMatching(/^\d+ kbps Media \.webm$/), MP3]],
    ['/files/tone.flac', undefined, [expect.stringMatching(/^\d+ kbps Media \.flac$/), MP3]],
    ['/files/tone.wav', undefined, [expect.stringMatching(/^\d+ kbps Media \.wav$/), MP3]],
    ['/plain/octets', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/plain/audio-webm', undefined, [expect.stringMatching(/^\d+ kbps Media \.webm$/), MP3]],
    ['/redirects/302/files/clip.mp4', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/redirects/cookie', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
  ])('%s', async (path, video, audio) => expect(await offered(path)).toEqual([video, audio]));

  it('has its exact size', async () => {
    const { renditions, mp3 } = await single('/files/clip.mp4?size');
    const response = await fetch(origin.url('/files/clip.mp4'), { method: 'HEAD' });
    expect(renditions[0]?.sizeBytes).toBe(Number(response.headers.get('content-length')));
    // ID3 tag of the title "clip", and 6 s of frames.
    expect(mp3?.sizeBytes).toBe(10 + 10 + 3 + 8 + 251 * 576);
  });
});

describe('segmented media', () => {
  it.each([
    ['/hls/master.m3u8', ['720p Combined .mp4', '360p Combined .mp4'], ['M4A Media .m4a', MP3]],
    ['/hls/muxed.m3u8', ['180p Media .mp4', '90p Media .mp4'], ['180p Media .mp4', '90p Media .mp4', MP3]],
    ['/hls/ts/index.m3u8', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/hls/fmp4/index.m3u8', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/hls/aes/index.m3u8', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/dash/number/manifest.mpd', ['720p Combined .mp4', '360p Combined .mp4'], ['128 kbps Media .m4a', MP3]],
    ['/dash/timeline/manifest.mpd', ['720p Combined .mp4', '360p Combined .mp4'], ['128 kbps Media .m4a', MP3]],
    ['/live/index.m3u8', ['90p Media .mp4'], ['90p Media .mp4', MP3]],
  ])('%s', async (path, video, audio) => expect(await offered(path)).toEqual([video, audio]));

  it('of a live source has no duration', async () => {
    const resource = await single('/live/index.m3u8?again');
    expect(resource).toMatchObject({ isLive: true });
    expect(resource).not.toHaveProperty('durationSeconds');
    expect(resource.mp3).not.toHaveProperty('sizeBytes');
  });

  it('of DASH keeps its fragments', async () =>
    expect(
      (await single('/dash/number/manifest.mpd?again')).tracks.map(({ fragments }) => fragments?.durations.slice(0, 2)),
    ).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ]));
});

describe('a page', () => {
  it.each([
    ['/pages/video', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/pages/sources', ['720p Media .mp4', '360p Media .mp4'], ['720p Media .mp4', '360p Media .mp4', MP3]],
    ['/pages/json-ld', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/pages/og', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
    ['/pages/hls', ['720p Combined .mp4', '360p Combined .mp4'], ['M4A Media .m4a', MP3]],
    ['/pages/meta-refresh', ['180p Media .mp4'], ['180p Media .mp4', MP3]],
  ])('%s', async (path, video, audio) => expect(await offered(path)).toEqual([video, audio]));

  it('of several videos is a playlist, each item refreshed by itself', async () => {
    const { resolved } = await resolve('/pages/videos');
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    expect(resolved.items).toHaveLength(3);
    const second = resolved.items[1]?.resource as Resource;
    const again = await resolver.refresh(second);
    expect(again.tracks[0]?.url).toBe(origin.url('/files/clip.webm'));
    expect(again.renditions).toEqual(second.renditions);
  });
});

describe('a site with separate video and audio files', () => {
  it('offers pairs and single tracks, best first', async () =>
    expect(await offered('/site/open/pairs')).toEqual([
      ['720p Combined .mp4', '360p Combined .mp4', '360p Combined .mp4', '180p Combined .mp4'],
      [
        expect.stringMatching(/kbps Media \.webm$/),
        expect.stringMatching(/kbps Media \.m4a$/),
        expect.stringMatching(/kbps Media \.m4a$/),
        MP3,
      ],
    ]));

  it('is stored with the headers and cookies of its files', async () => {
    const { coverUrl, tracks } = await single('/site/watch/rules');
    expect(coverUrl).toBe(origin.url('/files/square.jpg'));
    for (const { formatId, headers, cookies, chunkBytes, urlExpiresAt } of tracks) {
      expect(headers).toMatchObject({ 'X-Format': formatId, Referer: origin.url('/') });
      expect(cookies).toMatchObject([{ name: 'watch', domain: '127.0.0.1', hostOnly: true, path: '/site-media/' }]);
      expect(chunkBytes).toBe(262_144);
      expect(urlExpiresAt).toBeGreaterThan(Date.now() / 1000);
    }
  });

  it('has new URLs after a refresh, and the same renditions', async () => {
    const before = await single('/site/watch/refresh');
    const after = await resolver.refresh(before);
    const urls = (resource: Resource) => resource.tracks.map(({ url }) => url);
    expect(after.tracks.map(({ formatId }) => formatId)).toEqual(before.tracks.map(({ formatId }) => formatId));
    expect(urls(after)).not.toEqual(urls(before));
    expect([after.renditions, after.mp3, after.durationSeconds]).toEqual([
      before.renditions,
      before.mp3,
      before.durationSeconds,
    ]);
  });
});

describe('a list', () => {
  it('of a feed keeps the titles of the feed', async () => {
    const { information } = await resolve('/feeds/podcast.xml');
    expect(information).toMatchObject({ type: 'PlayList', title: 'A podcast' });
    expect(information.mediaItems.map(({ title, requestedUrl }) => [title, requestedUrl])).toEqual([
      ['Episode 1', origin.url('/files/tone.mp3')],
      ['Episode 2', origin.url('/files/tone.m4a')],
      ['Episode 3', origin.url('/files/tone.ogg')],
    ]);
  });

  it('omits entries that are gone, private or protected', async () => {
    const { information } = await resolve('/site/list/mixed?n=6&dead=2&private=3&drm=4&nested=5');
    expect(information.mediaItems.map(({ title }) => title?.match(/mixed-[\d-]+/)?.[0])).toEqual([
      'mixed-1',
      'mixed-5-1',
      'mixed-5-2',
      'mixed-5-3',
      'mixed-6',
    ]);
  });

  it('is completed by the next request when an entry missed the deadline', async () => {
    const bare = (await resolve('/site/list/late?n=2&slow=2', 3)).information.mediaItems;
    expect(bare.map(({ title, video }) => [title, video !== undefined])).toEqual([
      [expect.stringContaining('late-1'), true],
      ['Entry 2', false],
    ]);
    const whole = (await resolve('/site/list/late?n=2&slow=2')).information.mediaItems;
    expect(whole.map(({ video }) => video !== undefined)).toEqual([true, true]);
  });
});

describe('a link that cannot be resolved', () => {
  it.each([
    ['/plain/image', 404],
    ['/plain/json', 404],
    ['/plain/zip', 404],
    ['/plain/empty', 404],
    ['/hls/empty.m3u8', 404],
    ['/feeds/empty.xml', 404],
    ['/feeds/dead.xml', 404],
    ['/pages/dead-video', 404],
    ['/trouble/404', 404],
    ['/trouble/410', 404],
    ['/site/gone/1', 404],
    ['/site/upcoming/1', 404],
    ['/site/not-live/1', 404],
    ['/site/no-formats/1', 404],
    ['/inward/redirect?to=http://10.1.2.3/x.mp4', 404],
    ['/inward/playlist?to=http://10.1.2.3/x.m3u8', 404],
    ['/inward/segment?to=http://10.1.2.3/x.ts', 404],
    ['/inward/key?to=http://10.1.2.3/key', 404],
    ['/inward/mpd?to=http://10.1.2.3/x.mp4', 404],
    ['/inward/video?to=http://169.254.169.254/latest', 404],
    ['/hls/drm.m3u8', 415],
    ['/dash/drm/manifest.mpd', 415],
    ['/pages/words', 415],
    ['/trouble/401', 415],
    ['/trouble/403', 415],
    ['/site/drm/1', 415],
    ['/site/all-drm/1', 415],
    ['/site/login/1', 415],
    ['/site/geo/1', 415],
    ['/site/private/1', 415],
    ['/site/only-odd/1', 415],
    ['/trouble/429', 502],
    ['/trouble/500', 502],
    ['/trouble/reset', 502],
    ['/trouble/garbage', 502],
    ['/trouble/huge', 415],
    ['/redirects/loop', 502],
    ['/site/bug/1', 502],
    ['/site/exit/1', 502],
    ['/site/kill/1', 502],
    ['/site/noise/1', 502],
    ['/site/memory/1', 415],
  ])('%s is a %d', (path, status) => expect(asProblem(resolve(path))).rejects.toMatchObject({ details: { status } }));

  it.each(['/trouble/drip', '/site/sleep/1', '/site/spin/1'])('%s never ends and is a 502 at the deadline', (path) =>
    expect(asProblem(resolve(path, 1))).rejects.toMatchObject({ details: { status: 502 } }),
  );
});
