import { describe, expect, it } from 'vitest';
import { readMetadata } from '../../../../core/resolve/yt-dlp/metadata.ts';

describe('readMetadata', () => {
  const bare = (title: string, link: string) => ({ title, extractor_key: 'Generic', webpage_url: link });
  const thumb = (url: string, width?: number, height?: number) => ({ url: `https://i.example/${url}`, width, height });

  it.each([
    [{ title: 'T 2026-11-21 07:11', fulltitle: 'T' }, { title: 'T' }],
    [{ title: '  ' }, { title: null }],
    [bare('index', 'http://m.example:8080/live/one/index.m3u8?t=1'), { title: 'm.example – one' }],
    [bare('Master', 'https://m.example/master.m3u8'), { title: 'm.example' }],
    [bare('index', 'https://m.example/a%20b/index.m3u8'), { title: 'm.example' }],
    [bare('index', 'no address'), { title: 'index' }],
    [bare('Index of colours', 'https://m.example/live/index.m3u8'), { title: 'Index of colours' }],
    [{ ...bare('index', 'https://m.example/live/'), extractor_key: 'Site' }, { title: 'index' }],
    [{ uploader: 'U', channel: 'C' }, { author: 'U' }],
    [{ artists: ['A', 'B', 3] }, { author: 'A, B' }],
    [{ creators: [], channel: 'C' }, { author: 'C' }],
    [{}, { title: null, author: null, coverUrl: null }],
    [
      {
        thumbnail: 'https://i.example/w',
        thumbnails: [thumb('s', 300, 300), thumb('l', 600, 600), thumb('w', 1280, 720)],
      },
      { coverUrl: 'https://i.example/l' },
    ],
    [{ thumbnail: 'https://i.example/w', thumbnails: [thumb('w', 1280, 720)] }, { coverUrl: 'https://i.example/w' }],
    [{ thumbnails: [thumb('a'), thumb('b')] }, { coverUrl: 'https://i.example/b' }],
    [{ thumbnail: 'javascript:alert(1)' }, { coverUrl: null }],
    [{ title: `${'a'.repeat(499)}😀tail` }, { title: 'a'.repeat(499) }],
    [{ uploader: `${'a'.repeat(498)}😀tail` }, { author: `${'a'.repeat(498)}😀` }],
    [{ thumbnail: `https://a.example/${'x'.repeat(2_031)}` }, { coverUrl: null }],
    [
      { thumbnail: `https://a.example/${'x'.repeat(2_031)}`, thumbnails: [{ url: 'https://a.example/c.jpg' }] },
      { coverUrl: 'https://a.example/c.jpg' },
    ],
  ])('reads %j as %j', (info, expected) => expect(readMetadata(info)).toMatchObject(expected));
});
