import { describe, expect, it } from 'vitest';
import { readMetadata } from '../../../../core/resolve/yt-dlp/metadata.ts';

describe('readMetadata', () => {
  const thumb = (url: string, width?: number, height?: number) => ({ url: `https://i.example/${url}`, width, height });

  it.each([
    [{ title: 'T 2026-11-21 07:11', fulltitle: 'T' }, { title: 'T' }],
    [{ title: '  ' }, { title: null }],
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
