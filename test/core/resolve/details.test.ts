import { describe, expect, it } from 'vitest';
import { readDetails, readSubtitleTracks } from '../../../core/resolve/yt-dlp/metadata.ts';

describe('readDetails', () => {
  it('reads nothing from an item without details', () => {
    expect(readDetails({ title: 'x', tags: [], chapters: null, upload_date: 'soon' })).toBeUndefined();
  });

  it.each([
    ['20260229', undefined],
    ['2026-03-01', '2026-03-01'],
    ['20260301', '2026-03-01'],
    ['99999999', undefined],
    [20260301, undefined],
  ])('reads the date %s as %s', (upload_date, uploadDate) => {
    expect(readDetails({ upload_date, tags: ['x'] })?.uploadDate).toBe(uploadDate);
  });

  it('drops ill-formed tags and chapters, and duplicates', () => {
    const chapters = [
      'text',
      { start_time: -1 },
      { start_time: 'x' },
      { start_time: 2, end_time: 1, title: ' A ' },
      { start_time: 3, end_time: 9 },
    ];
    expect(readDetails({ tags: ['a', 'a', ' ', 7, {}], chapters })).toEqual({
      tags: ['a'],
      chapters: [
        { title: 'A', startSeconds: 2 },
        { title: null, startSeconds: 3, endSeconds: 9 },
      ],
    });
  });

  it('reads the chapters of the description where the site tells none and the duration is known', () => {
    const description = '0:00 A\n0:10 B\n0:20 C';
    expect(readDetails({ description, chapters: [] }, 30)?.chapters?.map(({ title }) => title)).toEqual([
      'A',
      'B',
      'C',
    ]);
    expect(readDetails({ description, chapters: [] })?.chapters).toBeUndefined();
    const told = [
      { start_time: 5, title: 'D' },
      { start_time: 0, title: 'E' },
    ];
    expect(readDetails({ description, chapters: told }, 30)?.chapters?.map(({ title }) => title)).toEqual(['E', 'D']);
  });

  it('lists thumbnails best first, by http only', () => {
    const thumbnails = [
      { url: 'https://a.example/1', width: 1.5 },
      { url: 'https://a.example/2' },
      { url: 'https://a.example/1' },
      { url: 'data:image/png,x' },
    ];
    expect(readDetails({ thumbnails })?.thumbnails).toEqual([
      { url: 'https://a.example/1' },
      { url: 'https://a.example/2' },
    ]);
  });

  it('bounds every text and list', () => {
    const many = (length: number, of: (index: number) => unknown) => Array.from({ length }, (_, index) => of(index));
    const details = readDetails({
      description: 'x'.repeat(1e6),
      tags: many(1000, (index) => `${index}${'x'.repeat(1000)}`),
      chapters: many(10_000, (start_time) => ({ start_time, title: 'x'.repeat(10_000) })),
      thumbnails: many(1000, (index) => ({ url: `https://a.example/${index}` })),
    });
    expect(JSON.stringify(details).length).toBeLessThan(80_000);
  });
});

describe('readSubtitleTracks', () => {
  const file = (more: object = {}) => [{ url: 'https://a.example/s?expire=2000000000', ext: 'vtt', ...more }];
  const read = (info: object) =>
    readSubtitleTracks(info as Record<string, unknown>, 1_999_000_000).map(
      ({ subtitle: { language, isAutomatic }, track }) => [language, isAutomatic, track.container],
    );

  it('prefers the formats with the least presentation', () => {
    expect(
      read({ subtitles: { en: [...file({ ext: 'srv1' }), ...file({ ext: 'ttml' }), ...file({ ext: 'srt' })] } }),
    ).toEqual([['en', false, 'srt']]);
  });

  it('reads segments of WebVTT where there is no file', () => {
    const list = file({ url: 'https://a.example/s.m3u8', protocol: 'm3u8_native' });
    const both = { en: [...list, ...file({ ext: 'srv1' })], fr: list, de: file({ ...list[0], ext: 'ttml' }) };
    const found = readSubtitleTracks({ subtitles: both }, 0);
    expect(found.map(({ track }) => [track.delivery, track.container])).toEqual([
      ['direct', 'srv1'],
      ['hls', 'vtt'],
    ]);
  });

  it('reads automatic captions in the spoken language only', () => {
    const automatic_captions = { af: file(), en: file(), 'en-orig': file(), de: file() };
    expect(read({ automatic_captions, language: 'en' })).toEqual([
      ['en', true, 'vtt'],
      ['en-orig', true, 'vtt'],
    ]);
    expect(read({ automatic_captions: { af: file(), en: file() } })).toEqual([['af', true, 'vtt']]);
  });

  it.each([
    ['fragments', { en: file({ protocol: 'http_dash_segments' }) }],
    ['text in place', { en: [{ data: 'WEBVTT', ext: 'vtt' }] }],
    ['other formats', { live_chat: file({ ext: 'json' }) }],
    ['comments of viewers', { danmaku: file({ ext: 'xml' }) }],
    ['other protocols', { en: file({ url: 'file:///etc/passwd' }) }],
    ['long URLs', { en: file({ url: `https://a.example/${'x'.repeat(9000)}` }) }],
    ['names that are paths', { '../en': file() }],
    ['other shapes', { en: 'https://a.example/s', de: [null, 1], fr: {} }],
    ['lists', [file()]],
  ])('ignores %s', (_, subtitles) => expect(read({ subtitles })).toEqual([]));

  it('bounds their number and their URLs', () => {
    const languages = (path: string) =>
      Object.fromEntries(
        Array.from({ length: 1000 }, (_, index) => [`l${index}`, file({ url: `https://a.example/${path}${index}` })]),
      );
    expect(read({ subtitles: languages('') })).toHaveLength(60);
    expect(read({ subtitles: languages('x'.repeat(8000)) }).length).toBeLessThan(10);
  });

  it('ends a long name before a character of two units', () => {
    const [found] = readSubtitleTracks({ subtitles: { en: file({ name: `${'x'.repeat(99)}🎬` }) } }, 0);
    expect(found?.subtitle.name).toBe('x'.repeat(99));
  });

  it('reads the headers that a file needs', () => {
    const http_headers = { Referer: 'https://a.example/', Host: 'b.example' };
    const [found] = readSubtitleTracks({ subtitles: { en: file({ http_headers }) } }, 0);
    expect(found?.track.headers).toEqual({ Referer: 'https://a.example/' });
  });

  it('reads the expiry of the URL, for the file to be renewed', () => {
    expect(readSubtitleTracks({ subtitles: { en: file() } }, 1_999_000_000)[0]?.track.urlExpiresAt).toBe(2_000_000_000);
  });
});
