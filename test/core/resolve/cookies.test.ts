import { describe, expect, it } from 'vitest';
import { parseCookies } from '../../../core/resolve/yt-dlp/cookies.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';

const parse = (line: string) => parseCookies(line, 'h.example').map(({ name, value, domain }) => [name, value, domain]);

describe('a line of cookies', () => {
  it.each([
    [
      'an empty part',
      'a=1;; b=2;',
      [
        ['a', '1', 'h.example'],
        ['b', '2', 'h.example'],
      ],
    ],
    [
      'a quote within a value',
      'a=x"y; b=2"',
      [
        ['a', 'x"y', 'h.example'],
        ['b', '2"', 'h.example'],
      ],
    ],
    [
      'a quote that does not end',
      'a="x; b=2',
      [
        ['a', '"x', 'h.example'],
        ['b', '2', 'h.example'],
      ],
    ],
    [
      'space around',
      ' a = 1 ;\tb =\t2 ',
      [
        ['a', '1', 'h.example'],
        ['b', '2', 'h.example'],
      ],
    ],
  ])('may have %s', (_, line, expected) => expect(parse(line)).toEqual(expected));

  it('says nothing of the cookie before one without a name', () =>
    expect(parse('a=1; Path=/; =x; Domain=.other.example; b=2')).toEqual([
      ['a', '1', 'h.example'],
      ['b', '2', 'h.example'],
    ]));

  it.each([
    ['spaces in a name', `a${' '.repeat(16_000)}b=1`],
    ['spaces before what is no attribute', `a=1; Path=/${' '.repeat(16_000)}x; Version=0`],
    ['quotes that open', 'a="'.repeat(5000)],
    ['quotes that never close', `a="${'\\"'.repeat(8000)}`],
  ])('holds nobody up by %s', (_, line) => {
    const started = performance.now();
    parse(line);
    expect(performance.now() - started).toBeLessThan(200);
  });

  it('gives none when it is longer than any request, and not more than a hundred', () => {
    expect(parse(`a=${'x'.repeat(20_000)}`)).toEqual([]);
    expect(parse('a=1; '.repeat(3000))).toHaveLength(100);
  });
});

it('is read once for all formats that have it', () => {
  const format = { url: 'https://cdn.example/a.mp4', cookies: 'a=1; Domain=cdn.example', vcodec: 'avc1' };
  const other = { url: 'https://other.example/a.mp4', cookies: 'a=1' };
  const formats = [format, { ...format, vcodec: 'av01' }, { ...format, ...other }];
  const [third, second, first] = readTracks({ formats }, 0).map(({ track }) => track.cookies);
  expect(first).toBe(second);
  expect(third?.[0]?.domain).toBe('other.example');
});
