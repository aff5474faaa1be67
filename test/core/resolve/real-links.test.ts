import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../core/state/resource.ts';
import { PLUGIN_DIR } from '../../contract/target-settings.ts';
import { asProblem } from '../../support/as-problem.ts';
import { startResolver } from './start-resolver.ts';

/**
 * Links of the test origin through the real yt-dlp and the real egress: what is stored of them. What is answered is in
 * test/contract/{renditions,failures,playlists}.test.ts.
 */
const { origin, resolver, resolve, single } = await startResolver({
  pluginDirs: [PLUGIN_DIR],
});

describe('segmented media', () => {
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
  it('of several videos is a playlist, each item refreshed by itself', async () => {
    const resolved = await resolve('/pages/videos');
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    expect(resolved.items).toHaveLength(3);
    const second = resolved.items[1]?.resource as Resource;
    const again = await resolver.refresh(second);
    expect(again.tracks[0]?.url).toBe(origin.url('/files/clip.webm'));
    expect(again.renditions).toEqual(second.renditions);
  });
});

describe('a site with separate video and audio files', () => {
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

describe('a link that cannot be resolved', () => {
  it('whose extractor never ends is a 502 at the deadline', () =>
    expect(asProblem(resolve('/site/spin/1', 1))).rejects.toMatchObject({ details: { status: 502 } }));
});
