import { describe, expect, it } from 'vitest';
import { cookieHeader, requestHeaders } from '../src/request-headers.ts';

describe('cookieHeader', () => {
  const cookie = { name: 'a', value: '1', domain: 'x.example', hostOnly: false, path: '/', secure: false };

  it.each([
    ['https://x.example/', {}, 'a=1'],
    ['https://cdn.x.example/', {}, 'a=1'],
    ['https://cdn.x.example/', { hostOnly: true }, undefined],
    ['https://evilx.example/', {}, undefined],
    ['https://other.example/', {}, undefined],
    ['http://x.example/', { secure: true }, undefined],
    ['https://x.example/', { secure: true }, 'a=1'],
    ['https://1.x.example/', {}, 'a=1'],
    ['https://cdn.x1/', { domain: 'x1' }, 'a=1'],
    ['https://x.example/pa', { path: '/p' }, undefined],
    ['https://x.example/p/a', { path: '/p' }, 'a=1'],
    ['https://x.example/p', { path: '/p' }, 'a=1'],
    ['https://10.0.0.1/', { domain: '0.0.1' }, undefined],
  ])('for %s and a cookie with %j is %s', (url, more, expected) =>
    expect(cookieHeader([{ ...cookie, ...more }], new URL(url))).toBe(expected),
  );

  it('separates cookies by semicolons', () =>
    expect(cookieHeader([cookie, { ...cookie, name: 'b' }], new URL('https://x.example/'))).toBe('a=1; b=1'));
});

describe('requestHeaders', () => {
  const headersFor = requestHeaders({
    url: 'https://cdn.example/a',
    headers: { 'User-Agent': 'Browser', Referer: 'https://page.example/', Authorization: 'secret', 'X-Token': 't' },
    cookies: [{ name: 'a', value: '1', domain: 'cdn.example', hostOnly: true, path: '/', secure: false }],
  });

  it('sends credentials and cookies to the host of the URL', () =>
    expect(headersFor(new URL('https://cdn.example/b'))).toMatchObject({ Authorization: 'secret', cookie: 'a=1' }));

  it('sends no credentials to another host', () =>
    expect(headersFor(new URL('https://other.example/b'))).toEqual({
      'User-Agent': 'Browser',
      Referer: 'https://page.example/',
    }));
});
