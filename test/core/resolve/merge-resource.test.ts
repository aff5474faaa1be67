import { describe, expect, it } from 'vitest';
import { mp3SizeBytes } from '../../../core/conversions/mp3/mp3-frames.ts';
import { mergeResource } from '../../../core/resolve/item/merge-resource.ts';
import type { Rendition, Resource, Track } from '../../../core/state/resource.ts';

const track = (formatId: string, more: Partial<Track> = {}): Track => ({
  formatId,
  delivery: 'direct',
  url: `https://media.example/${formatId}`,
  headers: {},
  cookies: [],
  container: 'mp4',
  video: {},
  audio: {},
  sizeIsExact: false,
  ...more,
});
const rendition = (formatId: string): Rendition => ({
  id: `r-${formatId}`,
  side: 'video',
  urlType: 'Media',
  formatIds: [formatId],
  label: formatId,
  description: null,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
});
const resource = (formatIds: readonly string[], more: Partial<Resource> = {}): Resource => ({
  id: 'id',
  origin: { url: 'https://site.example/', extractor: 'Site', entryId: '1' },
  title: 'Old',
  author: 'Author',
  coverUrl: null,
  durationSeconds: 60,
  isLive: false,
  tracks: formatIds.map((id) => track(id)),
  renditions: formatIds.map(rendition),
  mp3: { renditionId: `r-${formatIds[0]}`, sizeBytes: mp3SizeBytes(60, { title: 'Old', artist: 'Author' }) },
  egress: 'direct',
  freshUntil: 1,
  expiresAt: 2,
  ...more,
});
const formats = ({ tracks }: Resource) => tracks.map(({ formatId }) => formatId);

describe('a resource that is resolved again', () => {
  const found = resource(['high'], { title: 'New', durationSeconds: 60.4, freshUntil: 11, expiresAt: 12 });

  it('shows what was found, and keeps what a conversion was promised to be', () => {
    const carried = mergeResource(resource(['high']), found);
    expect(carried).toMatchObject({ title: 'New', freshUntil: 11, expiresAt: 12, durationSeconds: 60 });
    expect(carried.tag).toEqual({ title: 'Old', artist: 'Author' });
    expect(carried.mp3).toEqual(resource(['high']).mp3);
    const again = mergeResource(carried, { ...found, title: 'Newer', durationSeconds: 60.8 });
    expect([again.tag, again.durationSeconds, again.mp3]).toEqual([carried.tag, 60, carried.mp3]);
  });

  it('keeps its duration when nobody could tell it this time', () => {
    const { durationSeconds: _, ...untold } = found;
    expect(mergeResource(resource(['high']), untold).durationSeconds).toBe(60);
  });

  it.each<[string, Partial<Resource>, Partial<Resource>]>([
    ['is of another length', {}, { durationSeconds: 75 }],
    ['has become a recording', { isLive: true, durationSeconds: undefined as never }, {}],
    ['has become live', {}, { isLive: true, durationSeconds: undefined as never }],
  ])('promises anew when it %s', (_, before, after) => {
    const anew = { ...found, ...after };
    const carried = mergeResource(resource(['high'], before), anew);
    expect([carried.durationSeconds, carried.tag]).toEqual([anew.durationSeconds, undefined]);
  });

  it('keeps the keys of what it no longer offers, without their lists of fragments', () => {
    const fragments = [{ url: 'https://media.example/0', seconds: 0 }];
    const standing = resource([], {
      tracks: [track('high'), track('low', { fragments })],
      renditions: [rendition('high'), rendition('low')],
    });
    const carried = mergeResource(standing, found);
    expect(carried.renditions.map(({ id }) => id)).toEqual(['r-high']);
    expect(carried.withdrawn?.map(({ id }) => id)).toEqual(['r-low']);
    expect(formats(carried)).toEqual(['high', 'low']);
    expect(carried.tracks[1]).not.toHaveProperty('fragments');
    // And offers them again when they come back.
    const back = mergeResource(carried, resource(['high', 'low']));
    expect([back.withdrawn, formats(back)]).toEqual([undefined, ['high', 'low']]);
  });

  it('forgets a key of which a stream has found that nothing is there', () => {
    const standing = resource([], { renditions: [rendition('high'), rendition('low')], tracks: [track('high')] });
    expect(mergeResource(standing, found)).not.toHaveProperty('withdrawn');
  });

  it('does not grow with a source that names its formats anew each time', () => {
    let standing = resource(['f0']);
    for (let time = 1; time < 200; time += 1) standing = mergeResource(standing, resource([`f${time}`]));
    expect(standing.withdrawn).toHaveLength(50);
    expect(standing.withdrawn?.[0]?.id).toBe('r-f198');
    expect(standing.tracks).toHaveLength(51);
  });
});
