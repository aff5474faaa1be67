import { describe, expect, it } from 'vitest';
import type { Resolved } from '../../../core/resolve/index.ts';
import { keyOf } from '../../../core/state/keys.ts';
import type { Rendition, Resource } from '../../../core/state/resource.ts';
import { toMediaDetails } from '../../../lambdas/api/get-details.ts';
import { toResourceInformation } from '../../../lambdas/api/get-resource.ts';
import { RESOURCE } from '../fakes.ts';

const rendition = (id: string, side: 'video' | 'audio', more: Partial<Rendition> = {}): Rendition => ({
  id,
  side,
  urlType: 'Media',
  formatIds: [id],
  label: id,
  description: `description of ${id}`,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  ...more,
});

const resource = (more: Partial<Resource>): Resource => ({ ...RESOURCE, id: 'r', renditions: [], ...more });

const informationOf = (more: Partial<Resource>) =>
  toResourceInformation({ type: 'Media', resource: resource(more) }, 'HTTPS://media.example/1#asked');

describe('toResourceInformation of media', () => {
  it('has the urlType of the best rendition, and that of each', () => {
    const renditions = [
      rendition('a', 'video', { urlType: 'Combined', formatIds: ['v', 'x'] }),
      rendition('b', 'video', { height: 360, sizeBytes: 9, bitrate: 1.5 }),
    ];
    const [{ id = '' } = {}] = renditions;
    const known = informationOf({ renditions, exactSizes: { [id]: 77 } }).mediaItems[0]?.video;
    expect(known?.renditions?.[0]).toMatchObject({ fileSizeBytes: 77 });
    const video = informationOf({ renditions }).mediaItems[0]?.video;
    expect(video?.urlType).toBe('Combined');
    expect(video?.renditions).toMatchObject([
      { urlType: 'Combined', height: null, fileSizeBytes: null, bitrate: null, convertTo: null },
      { urlType: 'Media', height: 360, fileSizeBytes: 9, bitrate: 1.5, convertTo: null },
    ]);
  });
});

describe('toResourceInformation of audio', () => {
  const tracks = [{ formatId: 'a', audio: {} }] as unknown as Resource['tracks'];

  it.each<[string, Rendition[], string[]]>([
    ['dubs', [rendition('a', 'audio'), rendition('dub', 'audio', { isAlternate: true })], ['a']],
    ['described video', [rendition('a', 'video'), rendition('ad', 'video', { isAlternate: true })], ['a']],
  ])('leaves out %s, whose keys stay valid', (_, renditions, listed) => {
    const audio = informationOf({ renditions, tracks }).mediaItems[0]?.audio;
    expect(audio?.renditions.map(({ label }) => label)).toEqual(listed);
    expect(audio?.worstQualityKey).toBe(keyOf('r', 'a'));
  });
});

describe('toResourceInformation of conversions', () => {
  it('lists only the conversion, with nulls and without urlType, when there is no separate audio', () => {
    const item = informationOf({ renditions: [rendition('a', 'video')], mp3: { renditionId: 'a' } }).mediaItems[0];
    const { renditions, ...rest } = item?.audio ?? { renditions: [] };
    expect(renditions).toMatchObject([{ key: keyOf('r', 'a'), convertTo: 'mp3', fileSizeBytes: null }]);
    expect(Object.keys(rest)).toHaveLength(12);
    expect(new Set(Object.values(rest))).toEqual(new Set([null]));
  });
});

describe('toResourceInformation of a playlist', () => {
  const listOf = (items: Extract<Resolved, { type: 'PlayList' }>['items']) =>
    toResourceInformation({ type: 'PlayList', title: null, author: null, coverUrl: null, items }, 'https://a.example/');

  it('has the URL of each entry, and bare metadata for unresolved entries', () => {
    const entry = { url: 'https://media.example/2', title: 'Two', author: null, coverUrl: null };
    const one = resource({ renditions: [rendition('a', 'video')] });
    const information = listOf([{ entry: { ...entry, url: 'https://media.example/1' }, resource: one }, { entry }]);
    expect(information).toMatchObject({ type: 'PlayList', title: null, author: null, coverUrl: null });
    expect(Object.keys(information)).not.toContain('requestedUrl');
    expect(information.mediaItems[0]).toMatchObject({ requestedUrl: 'https://media.example/1', video: {} });
    const { url: requestedUrl, ...bare } = entry;
    expect(information.mediaItems[1]).toEqual({ requestedUrl, ...bare });
  });

  it('has bare metadata for the last entries when the response would exceed the limit of Lambda', () => {
    const renditions = Array.from({ length: 120 }, (_, id) => rendition(`é${id}`, 'video'));
    const items = Array.from({ length: 400 }, (_, id) => ({
      entry: { url: `https://media.example/${id}`, title: 'Title', author: null, coverUrl: null, resourceId: `${id}` },
      resource: resource({ id: `${id}`, renditions: id === 399 ? [] : renditions }),
    }));
    const { mediaItems } = listOf(items);
    const body = JSON.stringify(mediaItems);
    // Lambda measures the serialized result, which contains this text as its body.
    expect(Buffer.byteLength(JSON.stringify({ statusCode: 200, body }))).toBeLessThan(6_291_556);
    expect(Buffer.byteLength(body)).toBeGreaterThan(4_900_000);
    expect(mediaItems.map(({ requestedUrl }) => requestedUrl)).toEqual(items.map(({ entry }) => entry.url));
    const whole = mediaItems.filter(({ video }) => video).length;
    expect(mediaItems.slice(0, whole).every(({ video }) => video?.renditions.length === 120)).toBe(true);
    expect(mediaItems.at(whole)).toEqual({
      requestedUrl: `https://media.example/${whole}`,
      title: 'Title',
      author: null,
      coverUrl: null,
    });
    expect(mediaItems.slice(whole).some((item) => 'video' in item)).toBe(false);
  });
});

describe('toMediaDetails', () => {
  it.each([
    ['a video of YouTube', {}, true],
    ['a live stream', { isLive: true }, false],
    ['another site', { origin: { url: 'https://media.example/1', extractor: 'Generic', entryId: '1' } }, false],
  ])('has a key for segments of %s where the instance knows some', (_, more, hasKey) => {
    const origin = { url: 'https://site.example/1', extractor: 'Youtube', entryId: 'dQw4w9WgXcQ' };
    const item = resource({ renditions: [rendition('one', 'video')], origin, ...more });
    expect(toMediaDetails(item, { hasSegments: true }).segmentsKey).toBe(hasKey ? keyOf('r', 'one') : null);
    expect(toMediaDetails(item).segmentsKey).toBe(null);
  });
});
