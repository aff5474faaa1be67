import { describe, expect, it } from 'vitest';
import {
  bookmarklet,
  isTooLong,
  linkFromText,
  linksFromLocation,
  linksFromText,
  offsetFromLocation,
  shareableLocation,
  textFromLocation,
  textOfTransfer,
  unopenedLines,
} from '../../../web/src/links.ts';

describe('linkFromText', () => {
  it.each([
    ['https://a.example/x', 'https://a.example/x'],
    ['  HTTP://A.example/x \n', 'HTTP://A.example/x'],
    ['Look: https://a.example/watch?v=1&t=2#x, great!', 'https://a.example/watch?v=1&t=2#x'],
    ['(https://a.example/x)', 'https://a.example/x'],
    ['https://a.example/x_(y)', 'https://a.example/x_(y)'],
    ['see (https://a.example/x_(y)).', 'https://a.example/x_(y)'],
    ['<https://a.example/>', 'https://a.example/'],
    ['“https://a.example/x”', 'https://a.example/x'],
    ['見て「https://a.example/x」。', 'https://a.example/x'],
    ['انظر https://a.example/x، رائع', 'https://a.example/x'],
    ['https://one.example/ https://two.example/', 'https://one.example/'],
    ['https://a.example/ü?q=ß', 'https://a.example/ü?q=ß'],
    ['example.com', 'https://example.com'],
    ['www.example.com/watch?v=1', 'https://www.example.com/watch?v=1'],
    ['http://127.0.0.1:8090/x', 'http://127.0.0.1:8090/x'],
  ])('%s', (text, link) => expect(linkFromText(text)).toBe(link));

  it.each([
    '',
    'hello',
    'two words',
    'v1.2',
    'file.mp4 is here',
    'javascript:alert(1)',
    'ftp://a.example/x',
    'data:text/html,x',
    'https://',
    'https:///x',
    'http:a.example',
    `https://a.example/${'x'.repeat(4096)}`,
    'https://a.example/\ud800',
  ])('none in %.40s', (text) => expect(linkFromText(text)).toBeUndefined());
});

describe('a link to this page', () => {
  const link = 'https://a.example/x?a=1&b=%20+#c';
  const share = `http://r.example:8080${shareableLocation([link])}`;
  it.each([
    ['is the link that it holds', share, link],
    ['also in a sentence', `See ${share}!`, link],
    ['also with what it is asked with', `${share}&api=https://b.example`, link],
    ['also within another', `http://r.example:8080${shareableLocation([share])}`, link],
    ['also without a scheme', 'r.example:8080/?url=https://a.example/x', 'https://a.example/x'],
    ['is itself when it holds none', 'http://r.example:8080/?url=nothing', 'http://r.example:8080/?url=nothing'],
    ['is itself elsewhere', 'http://r.example:8080/status?url=https://a.example/', undefined],
    ['of another host is left alone', `http://b.example${shareableLocation([link])}`, undefined],
  ])('%s', (_, text, expected = text) => expect(linkFromText(text, 'r.example:8080')).toBe(expected));
});

it.each([
  [`https://a.example/${'x'.repeat(4078)}`, false],
  [` https://a.example/${'x'.repeat(4079)}`, true],
  ['x'.repeat(5000), false],
])('distinguishes a link that is too long from a text without a link: %.40s', (text, isSo) => {
  expect(isTooLong(text)).toBe(isSo);
});

describe('linksFromLocation', () => {
  it.each([
    ['?url=https%3A%2F%2Fa.example%2Fx%3Fa%3D1%26b%3D2', 'https://a.example/x?a=1&b=2'],
    ['?title=Some&text=Look+https%3A%2F%2Fa.example%2Fx', 'https://a.example/x'],
    ['?title=https%3A%2F%2Fa.example%2F', 'https://a.example/'],
    ['?url=&text=https://a.example/', 'https://a.example/'],
    ['?url=nothing', undefined],
    ['', undefined],
    ['?url=%', undefined],
  ])('%s holds %s', (search, link) => expect(linksFromLocation(search)).toEqual(link ? [link] : []));

  it('holds every link of a shared text', () =>
    expect(linksFromLocation('?title=Two&text=https://a.example/+and%0Ahttps://b.example/')).toEqual([
      'https://a.example/',
      'https://b.example/',
    ]));

  it.each([
    ['?offset=200', 200],
    ['?offset=-1', 0],
    ['?offset=x', 0],
    ['?url=x', 0],
  ])('%s begins at entry %d', (search, offset) => expect(offsetFromLocation(search)).toBe(offset));

  it.each([
    ['?url=garbage', 'garbage'],
    ['?title=A+film&text=hello+there&url=', 'hello there'],
    ['?url=+&title=A+film', 'A film'],
    ['?url=ftp%3A%2F%2Fx%2Fy', 'ftp://x/y'],
    ['?api=https://a.example', undefined],
    ['', undefined],
  ])('%s without a link holds %s', (search, text) => expect(textFromLocation(search)).toBe(text));
});

it.each([
  ['https://a.example/\n\nfoo bar\r\nsee https://b.example/', ['foo bar']],
  // Without a scheme, it is no link beside those with one.
  ['https://a.example/\nfilm.mov', ['film.mov']],
  ['a.example/x\nno link', ['no link']],
  ['https://a.example/\nhttps://a.example/', []],
])('names the lines of %j that are not opened', (text, lines) => expect(unopenedLines(text)).toEqual(lines));

describe('textOfTransfer', () => {
  const transfer = (types: Record<string, string>) => ({ getData: (type: string) => types[type] ?? '' });
  it.each<[Record<string, string>, string[]]>([
    [
      { 'text/uri-list': '# comment\r\nhttps://a.example/\r\nhttps://b.example/' },
      ['https://a.example/', 'https://b.example/'],
    ],
    [{ 'text/plain': 'Look https://a.example/x!' }, ['https://a.example/x']],
    [
      { 'text/plain': 'https://a.example/x!\n(https://b.example/y), z' },
      ['https://a.example/x!', 'https://b.example/y'],
    ],
    [{ 'text/uri-list': 'file:///x', 'text/plain': 'https://a.example/x' }, ['https://a.example/x']],
    [
      { 'text/plain': 'https://a.example/x\nhttps://b.example/y film.mov\nhttps://a.example/x' },
      ['https://a.example/x', 'https://b.example/y'],
    ],
    [{ 'text/plain': 'a.example/x\nb.example/y' }, ['https://a.example/x', 'https://b.example/y']],
    [{ 'text/plain': 'two words\nv1.2' }, []],
    [{}, []],
  ])('%j', (types, links) => expect(linksFromText(textOfTransfer(transfer(types)))).toEqual(links));

  it('is empty without data', () => expect(textOfTransfer(null)).toBe(''));

  it('bounds a batch', () => {
    const text = Array.from({ length: 150 }, (_, index) => `https://a.example/${index}`).join('\n');
    expect(linksFromText(text)).toHaveLength(100);
    expect(unopenedLines(text)).toEqual(text.split('\n').slice(100));
  });
});

it('links are those of their location', () => {
  const links = ['https://a.example/x?a=1&b=%20+#c=ü', 'https://b.example/?b=1&c'];
  for (const some of [links, links.slice(1)])
    expect(linksFromLocation(new URL(shareableLocation(some), 'https://r.example').search)).toEqual(some);
});

it('bookmarklet opens the current page here', () => {
  const opened: string[] = [];
  const code = decodeURIComponent(bookmarklet('https://r.example/reelay').replace(/^javascript:/, ''));
  new Function('open', 'location', code)((url: string) => opened.push(url), { href: 'https://a.example/?b=1&c' });
  expect(opened).toEqual([`https://r.example/reelay/?url=${encodeURIComponent('https://a.example/?b=1&c')}`]);
  expect(bookmarklet('https://r.example')).toMatch(/^javascript:[^\s"']*$/);
});
