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

  it('omits entries that are gone, private or protected', async () => {
    const feed = await target.resolve('/feeds/half-dead.xml');
    expect(feed.resource.mediaItems.map(({ title }) => title)).toEqual(['Alive', 'Alive too']);
    const list = await target.resolve('/site/list/half?n=6&dead=2&private=3&drm=5');
    expect(list.resource.mediaItems).toHaveLength(3);
    expect(list.resource.mediaItems.map(({ requestedUrl }) => requestedUrl)).toEqual(
      [1, 4, 6].map((number) => target.origin.url(`/site/combined/half-${number}`)),
    );
  });

  it('with only missing entries is answered with 404', async () => {
    expect((await target.resolve('/feeds/dead.xml')).problem).toEqual({
      type: '/problems/not-found',
      title: 'Resource Not Found',
      status: 404,
    });
  });

  it('is answered within the deadline without renditions of slow entries, which the next request completes', async () => {
    const link = '/site/list/slow?n=3&slow=2';
    const first = await target.resolve(link);
    expect(first.status).toBe(200);
    const [before, slow, after] = first.resource.mediaItems;
    expect(slow).toMatchObject({ title: 'Entry 2', requestedUrl: target.origin.url('/site/slow-once/slow-2') });
    expect(slow).not.toHaveProperty('video');
    expect(slow).not.toHaveProperty('audio');
    expect(before?.video?.renditions).toHaveLength(2);
    expect(after?.video?.renditions).toHaveLength(2);

    const second = await target.resolve(link);
    expect(second.resource.mediaItems[1]?.video?.renditions).toHaveLength(1);
    expect(second.resource.mediaItems[0]).toEqual(before);
  });

  it('is answered at once with what is resolved when the client does not wait for entries', async () => {
    const path = `/api/Fetch/GetResource?url=${encodeURIComponent(target.origin.url('/site/list/patient?n=3'))}`;
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
