import { describe, expect, it } from 'vitest';
import { useTarget } from './target.ts';

const target = useTarget();

describe('a playlist', () => {
  it('has an item with its own URL for each entry, in order', async () => {
    const { status, resource } = await target.resolve('/feeds/podcast.xml');
    expect(status).toBe(200);
    expect(resource).toMatchObject({ type: 'PlayList', title: 'A podcast' });
    expect(Object.keys(resource).sort()).toEqual(['author', 'coverUrl', 'mediaItems', 'title', 'type']);
    expect(resource.mediaItems.map(({ title, requestedUrl }) => ({ title, requestedUrl }))).toEqual([
      { title: 'Episode 1', requestedUrl: target.origin.url('/files/tone.mp3') },
      { title: 'Episode 2', requestedUrl: target.origin.url('/files/tone.m4a') },
      { title: 'Episode 3', requestedUrl: target.origin.url('/files/tone.ogg') },
    ]);
    for (const item of resource.mediaItems) {
      expect(item.audio?.bestQualityKey).toMatch(/^[\w-]+$/);
      expect(item).not.toHaveProperty('video');
    }
  });

  it.each([
    ['/pages/videos', 3],
    ['/feeds/one.xml', 1],
    ['/feeds/list.xspf', 2],
    ['/site/embedded/x', 2],
  ])('of %s has distinct keys', async (link, length) => {
    const { resource } = await target.resolve(link);
    expect(resource.type).toBe('PlayList');
    expect(resource.mediaItems).toHaveLength(length);
    const keys = resource.mediaItems.map(({ video, audio }) => (video?.renditions ?? audio?.renditions)?.[0]?.key);
    expect(new Set(keys).size).toBe(length);
  });

  it('is read in pages, which keep the numbers of the list and resolve what they have alone', async () => {
    const list = '/site/list/paged?n=5&dead=4';
    const path = (offset: number) => `${target.pathOf('Fetch/GetResource', list)}&offset=${offset}`;
    const before = target.origin.requests.length;
    const last = await target.get(path(2));
    const { title, mediaItems } = JSON.parse(last.body.toString());
    expect([
      title,
      mediaItems.map(({ requestedUrl }: { requestedUrl: string }) => requestedUrl.split('-').at(-1)),
    ]).toEqual(['List paged', ['3', '5']]);
    expect(last.headers['x-playlist']).toBe('listed=2, total=5, offset=2, unavailable=(4)');
    const asked = target.origin.requests.slice(before).map(({ path }) => /paged-(\d)/.exec(path)?.[1]);
    expect(new Set(asked)).toEqual(new Set([undefined, '3', '4', '5']));
    expect((await target.get(path(5))).status).toBe(404);
    const { resource } = await target.resolve(list);
    expect(resource.mediaItems).toHaveLength(4);
    expect((await target.get(`${target.pathOf('Fetch/GetResource', '/files/clip.mp4')}&offset=1`)).status).toBe(404);
  });

  // What is left out, and what is completed later: test/core/resolve/playlists.
  it('is answered at once with what is resolved when the client does not wait for entries', async () => {
    const path = target.pathOf('Fetch/GetResource', '/site/list/patient?n=3');
    const early = await target.get(path, { headers: { prefer: 'wait=0' } });
    expect(early.status).toBe(200);
    expect(early.headers['preference-applied']).toBe('wait=0');
    expect(early.headers['x-playlist']).toBe('listed=3, total=3');
    const { mediaItems } = JSON.parse(early.body.toString());
    expect(mediaItems).toHaveLength(3);
    for (const item of mediaItems) expect(item).not.toHaveProperty('video');
    const complete = await target.resolve('/site/list/patient?n=3');
    for (const item of complete.resource.mediaItems) expect(item.video?.renditions).toHaveLength(2);
    // With everything known there is nothing to wait for.
    const again = await target.get(path, { headers: { prefer: 'wait=0' } });
    expect(JSON.parse(again.body.toString())).toEqual(complete.resource);
  });
});
