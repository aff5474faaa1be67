import { describe, expect, it } from 'vitest';
import { createCookieReader, parseCookies, readHeaders } from '../../../../core/resolve/yt-dlp/requests.ts';
import { tracksOf } from './tracks-of.ts';

const parse = (line: string) => parseCookies(line, 'h.example');
const cookie = { domain: 'h.example', hostOnly: true, path: '/', secure: false };
const cookieOf = (name: string, value: string, more: object = {}) => ({ ...cookie, name, value, ...more });

describe('parseCookies', () => {
  it.each([
    ['', []],
    ['a=1', [cookieOf('a', '1')]],
    ['a=1; b=2', [cookieOf('a', '1'), cookieOf('b', '2')]],
    ['a=x=y==; Domain=h.example; Path=/p', [cookieOf('a', 'x=y==', { path: '/p' })]],
    [
      'a=1; Domain=.B.example; Path=/; Secure; Expires=1; Version=1',
      [cookieOf('a', '1', { domain: 'b.example', hostOnly: false, secure: true })],
    ],
    ['a="x; \\"y\\"\\054 \\\\z"; Path=/', []],
    ['a="x\\054y \\"z\\""; Path=/', [cookieOf('a', 'x,y "z"')]],
    ['a=; b', [cookieOf('a', ''), cookieOf('b', '')]],
    ['a="\\015\\012x: y"', []],
    ['a=1;; Path=/p', [cookieOf('a', '1', { path: '/p' })]],
    ['a=1; Path=/p; Path=; Domain=', [cookieOf('a', '1')]],
    ['a="', [cookieOf('a', '"')]],
    ['Domain=.b.example; a=1', [cookieOf('a', '1')]],
    ['a=1;; b=2;', [cookieOf('a', '1'), cookieOf('b', '2')]],
    ['a=x"y; b=2"', [cookieOf('a', 'x"y'), cookieOf('b', '2"')]],
    ['a="x; b=2', [cookieOf('a', '"x'), cookieOf('b', '2')]],
    [' a = 1 ;\tb =\t2 ', [cookieOf('a', '1'), cookieOf('b', '2')]],
    // The attributes of a nameless cookie belong to no other.
    ['a=1; Path=/; =x; Domain=.other.example; b=2', [cookieOf('a', '1'), cookieOf('b', '2')]],
  ])('parses %s', (line, expected) => expect(parse(line)).toEqual(expected));

  it.each([
    ['spaces in a name', `a${' '.repeat(16_000)}b=1`],
    ['spaces before an unknown attribute', `a=1; Path=/${' '.repeat(16_000)}x; Version=0`],
    ['quotes that open', 'a="'.repeat(5000)],
    ['quotes that never close', `a="${'\\"'.repeat(8000)}`],
  ])('parses in linear time: %s', (_, line) => {
    const before = process.threadCpuUsage();
    parse(line);
    // Quadratic time is seconds; CPU time, because the thread may wait for a core.
    expect(process.threadCpuUsage(before).user).toBeLessThan(200_000);
  });

  it('ignores a line above the limit, and returns at most 100 cookies', () => {
    expect(parse(`a=${'x'.repeat(16_382)}`)).toHaveLength(1);
    expect(parse(`a=${'x'.repeat(16_383)}`)).toEqual([]);
    expect(parse('a=1; '.repeat(3000))).toHaveLength(100);
  });
});

it('parses cookies once for all formats that share them', () => {
  const format = { url: 'https://cdn.example/a.mp4', cookies: 'a=1; Domain=cdn.example', vcodec: 'avc1' };
  const other = { url: 'https://other.example/a.mp4', cookies: 'a=1' };
  const formats = [format, { ...format, vcodec: 'av01' }, { ...format, ...other }];
  const [third, second, first] = tracksOf({ formats }, 0).map(({ track }) => track.cookies);
  expect(first).toBe(second);
  expect(third?.[0]?.domain).toBe('other.example');
});

it('parses different lines of 64 KiB in all, each of them once', () => {
  const read = createCookieReader();
  const namesOf = (line: string) => read({ cookies: line }, 'https://cdn.example/a').map(({ name }) => name);
  const lines = ['a', 'b', 'c', 'd'].map((name) => `${name}=${'x'.repeat(16_382)}`);
  expect([...lines, ...lines].flatMap(namesOf)).toEqual(['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']);
  expect(namesOf('e')).toEqual([]);
  expect(namesOf('')).toEqual([]);
});

it('passes on headers of the page alone, and none that could be two', () =>
  expect(
    readHeaders({
      Referer: 'https://a.example/',
      'X-Token': 't',
      Host: 'a',
      Cookie: 'a=1',
      Range: 'bytes=0-',
      'Accept-Encoding': 'br',
      'Content-Length': '1',
      'Proxy-Connection': 'a',
      'X-Number': 1,
      'X-Null': null,
      'X Space': 'a',
      'X-Break': 'a\r\nb',
    }),
  ).toEqual({ Referer: 'https://a.example/', 'X-Token': 't' }));
