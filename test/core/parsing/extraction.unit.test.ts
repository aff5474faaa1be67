import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidExtraction, parseExtraction, readExtraction } from '../../../core/parsing/extraction.ts';

const reduce = (info: Readonly<Record<string, unknown>>) => readExtraction({ info }).info;
const listOf = <T>(length: number, create: (index: number) => T): T[] => Array.from({ length }, (_, n) => create(n));

/** Texts, numbers and so on, and the objects and lists that contain them. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1);
}

describe('readExtraction', () => {
  it('keeps what the service reads of an item', () => {
    const info = {
      id: '1',
      extractor_key: 'Site',
      title: 'T',
      description: 'D',
      is_live: false,
      tags: ['a'],
      creators: ['C'],
      thumbnails: [{ url: 'https://i.example/a', width: 1, height: 2 }],
      chapters: [{ title: 'One', start_time: 0, end_time: 1.5 }],
      subtitles: { en: [{ ext: 'vtt', url: 'https://s.example/a', name: 'English', cookies: 'a=1' }] },
      formats: [
        {
          format_id: 'a',
          url: 'https://cdn.example/a.mp4',
          vcodec: 'avc1',
          acodec: null,
          height: 720,
          http_headers: { Referer: 'https://a.example/' },
          cookies: 'a=1',
          has_drm: 'maybe',
          downloader_options: { http_chunk_size: 10 },
        },
      ],
    };
    expect(reduce({ ...info, comments: [{ text: 'x' }], heatmap: [1], formats_table: 'x' })).toEqual(info);
  });

  it('packs the fragments of DASH formats', () => {
    const dash = { protocol: 'http_dash_segments', url: 'https://cdn.example/m.mpd' };
    const fragments = [{ path: 'init' }, { path: '1', duration: 2 }];
    expect(reduce({ formats: [{ ...dash, fragments }] }).formats).toEqual([
      { ...dash, fragments: { urls: 'init\n1', durations: [1, 0, 1, 2_000_000] } },
    ]);
    expect(reduce({ ...dash, fragments })).toMatchObject({ fragments: { urls: 'init\n1' } });
  });

  it.each<[string, Record<string, unknown>]>([
    ['formats', { formats: listOf(10_000, (n) => ({ format_id: `${n}`, url: `https://a.example/${n}` })) }],
    ['fields of formats', { formats: [Object.fromEntries(listOf(10_000, (n) => [`x${n}`, n]))] }],
    ['headers', { http_headers: Object.fromEntries(listOf(10_000, (n) => [`x${n}`, 'y'])) }],
    ['tags', { tags: listOf(10_000, String) }],
    ['creators', { creators: listOf(10_000, String) }],
    ['chapters', { chapters: listOf(10_000, (start_time) => ({ start_time })) }],
    ['thumbnails', { thumbnails: listOf(10_000, (n) => ({ url: `https://a.example/${n}` })) }],
    ['languages', { subtitles: Object.fromEntries(listOf(10_000, (n) => [`l${n}`, [{ ext: 'vtt' }]])) }],
    ['subtitles of a language', { automatic_captions: { en: listOf(10_000, () => ({ ext: 'vtt' })) } }],
    ['values of unknown fields', { x: listOf(10_000, () => []) }],
  ])('bounds the number of %s', (_, info) => expect(countValues(reduce(info))).toBeLessThan(1_500));

  it.each<[string, Record<string, unknown>]>([
    ['titles', { title: 'x'.repeat(1e6) }],
    ['ids', { id: 'x'.repeat(1e6) }],
    ['URLs', { url: `https://a.example/${'x'.repeat(1e6)}` }],
    ['descriptions of formats', { formats: [{ format: 'x'.repeat(1e6), format_id: 'x'.repeat(1e6) }] }],
    ['cookies', { cookies: 'x'.repeat(1e6) }],
    ['headers', { http_headers: { a: 'x'.repeat(1e6), ['x'.repeat(1e6)]: 'a' } }],
    ['languages', { subtitles: { ['x'.repeat(1e6)]: [] } }],
    [
      'numbers in text',
      { formats: [{ height: 'x'.repeat(1e6), downloader_options: { http_chunk_size: 'x'.repeat(1e6) } }] },
    ],
  ])('bounds the length of %s', (_, info) => expect(JSON.stringify(reduce(info)).length).toBeLessThan(25_000));

  it('keeps an entry of a list that is resolved by its URL as yt-dlp describes it', () => {
    const entry = { _type: 'url', url: 'https://a.example/#__youtubedl_smuggle=x', ie_key: 'Site', more: { any: [1] } };
    const list = { _type: 'playlist', id: 'list', playlist_count: 2, entries: [null, entry] };
    expect(reduce(list)).toEqual({ ...list, entries: [entry] });
  });

  it.each([
    ['entries', listOf(100_000, () => ({ _type: 'url', url: 'https://a.example/' }))],
    ['values of entries', listOf(1000, () => ({ _type: 'url', x: listOf(1000, () => ({})) }))],
    ['levels of entries', [{ _type: 'url', x: JSON.parse('['.repeat(5000) + ']'.repeat(5000)) }]],
    ['formats of entries', listOf(1000, () => ({ formats: listOf(1000, () => ({ format_id: 'a' })) }))],
  ])('bounds the number of %s', (_, entries) => {
    const reduced = reduce({ _type: 'playlist', entries });
    expect((reduced.entries as unknown[]).length).toBeLessThanOrEqual(1000);
    expect(countValues(reduced)).toBeLessThan(550_000);
    expect(structuredClone(reduced)).toEqual(reduced);
  });

  it('tolerates any value of any field', () =>
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('formats', 'entries', '_type', 'tags', 'subtitles'), fc.anything()),
        (info) => {
          expect(countValues(reduce(info))).toBeLessThan(1_000);
        },
      ),
    ));

  it.each([undefined, null, 1, [], {}, { info: null }, { info: [] }])('rejects %j', (answer) =>
    expect(() => readExtraction(answer)).toThrow(InvalidExtraction),
  );
});

describe('parseExtraction', () => {
  it('reads what Python writes in place of JSON numbers', () =>
    expect(parseExtraction(Buffer.from('{"info":{"title":"NaN","duration":-Infinity},"isIncomplete":true}'))).toEqual({
      info: { title: 'NaN', duration: null },
      isIncomplete: true,
    }));

  it.each(['', '{', '[]', '{"info":'])('rejects %j', (json) =>
    expect(() => parseExtraction(Buffer.from(json))).toThrow(InvalidExtraction),
  );
});
