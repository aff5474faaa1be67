import { describe, expect, it } from 'vitest';
import { cookieHeader, requestHeaders } from '../../../core/http/request-headers.ts';
import { normalizeLink } from '../../../core/resolve/item/normalize-link.ts';
import { parseCookies } from '../../../core/resolve/yt-dlp/cookies.ts';
import { readMetadata } from '../../../core/resolve/yt-dlp/metadata.ts';
import { urlExpiresAt } from '../../../core/resolve/yt-dlp/url-expiry.ts';

describe('normalizeLink', () => {
  it.each([
    ['HTTPS://Media.Example:443/a/../b', 'https://media.example/b'],
    ['https://user:secret@media.example/', 'https://media.example/'],
    ['https://media.example/#t=10', 'https://media.example/'],
    ['https://media.example/#__youtubedl_smuggle=%7B%7D', 'https://media.example/'],
    ['https://media.example/#/__youtubedl_smuggle=%7B%7D', 'https://media.example/'],
    ['https://media.example/#!/video/1', 'https://media.example/#!/video/1'],
    ['https://media.example/?a=1&b=%2F', 'https://media.example/?a=1&b=%2F'],
  ])('%s is kept as %s', (link, expected) => expect(normalizeLink(link)).toBe(expected));
});

describe('parseCookies', () => {
  const cookie = { domain: 'h.example', hostOnly: true, path: '/', secure: false };

  it.each([
    ['', []],
    ['a=1', [{ ...cookie, name: 'a', value: '1' }]],
    [
      'a=1; b=2',
      [
        { ...cookie, name: 'a', value: '1' },
        { ...cookie, name: 'b', value: '2' },
      ],
    ],
    ['a=x=y==; Domain=h.example; Path=/p', [{ ...cookie, name: 'a', value: 'x=y==', path: '/p' }]],
    [
      'a=1; Domain=.B.example; Path=/; Secure; Expires=1; Version=1',
      [{ ...cookie, name: 'a', value: '1', domain: 'b.example', hostOnly: false, secure: true }],
    ],
    ['a="x; \\"y\\"\\054 \\\\z"; Path=/', [{ ...cookie, name: 'a', value: 'x, y' }].slice(1)],
    ['a="x\\054y \\"z\\""; Path=/', [{ ...cookie, name: 'a', value: 'x,y "z"' }]],
    [
      'a=; b',
      [
        { ...cookie, name: 'a', value: '' },
        { ...cookie, name: 'b', value: '' },
      ],
    ],
    ['a="\\015\\012x: y"', []],
    ['Domain=.b.example; a=1', [{ ...cookie, name: 'a', value: '1' }]],
  ])('%s', (line, expected) => expect(parseCookies(line, 'h.example')).toEqual(expected));
});

describe('cookieHeader', () => {
  const cookie = { name: 'a', value: '1', domain: 'x.example', hostOnly: false, path: '/', secure: false };

  it.each([
    ['https://x.example/', {}, 'a=1'],
    ['https://cdn.x.example/', {}, 'a=1'],
    ['https://cdn.x.example/', { hostOnly: true }, undefined],
    ['https://evilx.example/', {}, undefined],
    ['https://other.example/', {}, undefined],
    ['http://x.example/', { secure: true }, undefined],
    ['https://x.example/pa', { path: '/p' }, undefined],
    ['https://x.example/p/a', { path: '/p' }, 'a=1'],
    ['https://x.example/p', { path: '/p' }, 'a=1'],
    ['https://10.0.0.1/', { domain: '0.0.1' }, undefined],
  ])('to %s of a cookie with %j: %s', (url, more, expected) =>
    expect(cookieHeader([{ ...cookie, ...more }], new URL(url))).toBe(expected),
  );
});

describe('requestHeaders', () => {
  const headersFor = requestHeaders({
    url: 'https://cdn.example/a',
    headers: { 'User-Agent': 'Browser', Referer: 'https://page.example/', Authorization: 'secret', 'X-Token': 't' },
    cookies: [{ name: 'a', value: '1', domain: 'cdn.example', hostOnly: true, path: '/', secure: false }],
  });

  it('gives a host what was meant for it', () =>
    expect(headersFor(new URL('https://cdn.example/b'))).toMatchObject({ Authorization: 'secret', cookie: 'a=1' }));

  it('takes no credential along to another host', () =>
    expect(headersFor(new URL('https://other.example/b'))).toEqual({
      'User-Agent': 'Browser',
      Referer: 'https://page.example/',
    }));
});

describe('urlExpiresAt', () => {
  const NOW = 1_790_000_000;

  it.each([
    ['expire=1790003600', NOW + 3600],
    ['Expires=1790003600&expire=1790007200', NOW + 3600],
    ['e=1790003600', NOW + 3600],
    ['expires=1790003600000', NOW + 3600],
    ['X-Amz-Date=20260921T130640Z&X-Amz-Expires=300', 1_789_996_000 + 300],
    ['x-goog-date=20260921T150000Z&x-goog-expires=3600', Date.UTC(2026, 8, 21, 16) / 1000],
    ['expire=1789999999', undefined],
    ['expire=9990003600', undefined],
    ['e=12', undefined],
    ['e=abc', undefined],
    ['X-Amz-Date=x&X-Amz-Expires=y', undefined],
    ['', undefined],
  ])('?%s', (query, expected) =>
    expect(urlExpiresAt(`https://cdn.example/?${query}`, Math.min(NOW, (expected ?? NOW + 1) - 1))).toBe(expected),
  );

  it('reads it from a path too', () =>
    expect(urlExpiresAt('https://cdn.example/manifest/expire/1790003600/x', NOW)).toBe(NOW + 3600));
});

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
  ])('%j', (info, expected) => expect(readMetadata(info)).toMatchObject(expected));
});
