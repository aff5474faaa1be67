import { describe, expect, it } from 'vitest';
import { mp3SizeBytes } from '../../../core/conversions/conversion.ts';
import { mergeResource } from '../../../core/resolve/merge-resource.ts';
import type { Rendition, Resource, Track } from '../../../core/state/resource.ts';
import { aRendition, aResource, aTrack } from '../state/resources.ts';

const track = (formatId: string, more: Partial<Track> = {}): Track =>
  aTrack({ formatId, url: `https://media.example/${formatId}`, ...more });
const rendition = (formatId: string) => aRendition(`r-${formatId}`, { formatIds: [formatId] });
const resource = (formatIds: readonly string[], more: Partial<Resource> = {}): Resource =>
  aResource(0, {
    title: 'Old',
    author: 'Author',
    durationSeconds: 60,
    tracks: formatIds.map((id) => track(id)),
    renditions: formatIds.map(rendition),
    mp3: { renditionId: `r-${formatIds[0]}`, sizeBytes: mp3SizeBytes(60, { title: 'Old', artist: 'Author' }) },
    freshUntil: 1,
    expiresAt: 2,
    ...more,
  });
const formats = ({ tracks }: Resource) => tracks.map(({ formatId }) => formatId);

describe('mergeResource', () => {
  const found = resource(['high'], { title: 'New', durationSeconds: 60.4, freshUntil: 11, expiresAt: 12 });

  it('takes the duration that an incomplete resolve did not read', () => {
    expect(mergeResource(resource(['high'], { isIncomplete: true }), found)).toMatchObject({ durationSeconds: 60.4 });
  });

  it('takes the new metadata, and keeps duration, tag and size of conversions', () => {
    const merged = mergeResource(resource(['high']), found);
    expect(merged).toMatchObject({ title: 'New', freshUntil: 11, expiresAt: 12, durationSeconds: 60 });
    expect(merged.tag).toEqual({ title: 'Old', artist: 'Author' });
    expect(merged.mp3).toEqual(resource(['high']).mp3);
    const again = mergeResource(merged, { ...found, title: 'Newer', durationSeconds: 60.8 });
    expect([again.tag, again.durationSeconds, again.mp3]).toEqual([merged.tag, 60, merged.mp3]);
  });

  it('keeps the chapters, which are part of tags, unless the media has changed', () => {
    const withChapters = (title: string) => ({
      details: { description: title, chapters: [{ title, startSeconds: 0 }] },
    });
    const stored = resource(['high'], withChapters('Old'));
    expect(mergeResource(stored, { ...found, ...withChapters('New') }).details).toEqual({
      description: 'New',
      chapters: [{ title: 'Old', startSeconds: 0 }],
    });
    expect(mergeResource(stored, { ...found, ...withChapters('New'), durationSeconds: 90 }).details).toEqual(
      withChapters('New').details,
    );
    expect(mergeResource(resource(['high']), { ...found, ...withChapters('New') }).details).toEqual(
      withChapters('New').details,
    );
  });

  it.each<[string, Partial<Track>, Partial<Track>, Partial<Resource>, boolean]>([
    ['files of the same size', { sizeBytes: 9 }, { sizeBytes: 9 }, {}, true],
    ['files of another size', { sizeBytes: 9 }, { sizeBytes: 8 }, {}, false],
    ['files whose size is known by now', {}, { sizeBytes: 8 }, {}, false],
    ['files of unknown size and the same duration', { url: 'https://a.example/?1' }, {}, {}, true],
    ['files of unknown size at the same URL', {}, {}, { durationSeconds: undefined }, true],
    [
      'files of unknown size and duration elsewhere',
      { url: 'https://a.example/?1' },
      {},
      { durationSeconds: undefined },
      false,
    ],
  ])('of %s keeps the exact sizes or not', (_, before, after, more, isKept) => {
    const stored = resource(['high'], {
      ...more,
      tracks: [track('high', before)],
      exactSizes: { 'r-high': 1234, 'r-gone': 5 },
    });
    const merged = mergeResource(stored, { ...found, ...more, tracks: [track('high', after)] });
    expect(merged.exactSizes).toEqual(isKept ? { 'r-high': 1234 } : undefined);
  });

  it('keeps the duration when the new result has none', () => {
    const { durationSeconds: _, ...untold } = found;
    expect(mergeResource(resource(['high']), untold).durationSeconds).toBe(60);
  });

  it.each<[string, Partial<Resource>, Partial<Resource>]>([
    ['has another duration', {}, { durationSeconds: 75 }],
    ['has become a recording', { isLive: true, durationSeconds: undefined }, {}],
    ['has become live', {}, { isLive: true, durationSeconds: undefined }],
  ])('drops the promises of a resource that %s', (_, before, after) => {
    const changed = { ...found, ...after };
    const merged = mergeResource(resource(['high'], before), changed);
    expect([merged.durationSeconds, merged.tag]).toEqual([changed.durationSeconds, undefined]);
  });

  it('keeps missing renditions as withdrawn, without their fragments', () => {
    const fragments = { urls: 'https://media.example/0', durations: [1, 0] };
    const stored = resource([], {
      tracks: [track('high'), track('low', { fragments })],
      renditions: [rendition('high'), rendition('low')],
    });
    const merged = mergeResource(stored, found);
    expect(merged.renditions.map(({ id }) => id)).toEqual(['r-high']);
    expect(merged.withdrawn?.map(({ id }) => id)).toEqual(['r-low']);
    expect(formats(merged)).toEqual(['high', 'low']);
    expect(merged.tracks[1]).not.toHaveProperty('fragments');
    // They are offered again when they return.
    const back = mergeResource(merged, resource(['high', 'low']));
    expect([back.withdrawn, formats(back)]).toEqual([undefined, ['high', 'low']]);
  });

  it.each([
    ['whose track', rendition('low')],
    ['one of whose tracks', { ...rendition('high'), id: 'r-both', formatIds: ['high', 'low'] } as Rendition],
  ])('omits a rendition %s was dropped', (_, dropped) =>
    expect(mergeResource(resource(['high'], { renditions: [dropped] }), found)).not.toHaveProperty('withdrawn'),
  );

  it('keeps at most 50 withdrawn renditions', () => {
    let stored = resource(['f0']);
    for (let time = 1; time < 200; time += 1) stored = mergeResource(stored, resource([`f${time}`]));
    expect(stored.withdrawn).toHaveLength(50);
    expect(stored.withdrawn?.[0]?.id).toBe('r-f198');
    expect(stored.tracks).toHaveLength(51);
  });

  it('keeps the track of a withdrawn rendition as it was found now', () => {
    const both: Rendition = { ...rendition('high'), id: 'r-both', formatIds: ['high', 'low'] };
    const stored = resource(['high', 'low', 'alone'], { renditions: [both], egress: 'proxy' });
    const merged = mergeResource(
      stored,
      resource(['high'], { tracks: [track('high', { url: 'https://new.example/' })] }),
    );
    expect(merged.withdrawn).toEqual([both]);
    expect(merged.tracks.map(({ url, egress }) => [url, egress])).toEqual([
      ['https://new.example/', undefined],
      ['https://media.example/low', 'proxy'],
    ]);
  });

  it.each<[string, readonly Track[], readonly Track[], boolean]>([
    ['are both as before', [track('a'), track('b')], [track('b'), track('a')], true],
    [
      'differ in one size',
      [track('a', { sizeBytes: 1 }), track('b')],
      [track('a', { sizeBytes: 2 }), track('b')],
      false,
    ],
    ['are found once', [track('a'), track('b')], [track('a')], false],
    ['were stored once', [track('b')], [track('a'), track('b')], false],
  ])('keeps the exact size of two files that %s or not', (_, before, after, isKept) => {
    const pair: Rendition = { ...rendition('a'), id: 'r-pair', formatIds: ['a', 'b'] };
    const stored = resource([], { tracks: before, exactSizes: { 'r-pair': 7 } });
    const merged = mergeResource(stored, resource([], { tracks: after, renditions: [pair] }));
    expect(merged.exactSizes).toEqual(isKept ? { 'r-pair': 7 } : undefined);
  });

  it('keeps the exact size of a file of the same size, at any URL and of any duration', () => {
    const stored = resource([], { tracks: [track('high', { sizeBytes: 9 })], exactSizes: { 'r-high': 9 } });
    const elsewhere = track('high', { sizeBytes: 9, url: 'https://other.example/' });
    const merged = mergeResource(stored, { ...found, durationSeconds: 90, tracks: [elsewhere] });
    expect(merged.exactSizes).toEqual({ 'r-high': 9 });
  });

  it.each([
    [61, 60],
    [59, 60],
    [61.1, 61.1],
    [58.9, 58.9],
  ])('of a duration of %d s after 60 s tells %d s', (durationSeconds, expected) =>
    expect(mergeResource(resource(['high']), { ...found, durationSeconds }).durationSeconds).toBe(expected),
  );
});
