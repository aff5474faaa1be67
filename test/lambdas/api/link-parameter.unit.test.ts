import { describe, expect, it } from 'vitest';
import { parseLinkParameter } from '../../../lambdas/api/resolve-request.ts';

const coded = encodeURIComponent;
const linkOf = (characters: number) => 'http://a.example/'.padEnd(characters, 'x');

describe('parseLinkParameter', () => {
  it.each([
    ['encoded', `url=${coded('https://a.example/watch?v=x&list=y')}`, 'https://a.example/watch?v=x&list=y'],
    ['raw', 'url=https://a.example/watch?v=x', 'https://a.example/watch?v=x'],
    [
      'raw, what follows & being another parameter',
      'url=https://a.example/watch?v=x&list=y',
      'https://a.example/watch?v=x',
    ],
    ['+ for a space', 'url=https://a.example/a+b', 'https://a.example/a b'],
    ['a plus that is meant', 'url=https://a.example/a%2Bb', 'https://a.example/a+b'],
    ['decoded once only', `url=${coded('https://a.example/a%2526b')}`, 'https://a.example/a%2526b'],
    ['the first of two', 'url=https://a.example/&url=https://b.example/', 'https://a.example/'],
    ['after others', 'x=1&url=https://a.example/', 'https://a.example/'],
    ['with blanks around', 'url=%20https://a.example/%0A', 'https://a.example/'],
    ['scheme in capitals', 'url=HTTPS://A.example/', 'HTTPS://A.example/'],
    ['userinfo and fragment', 'url=http://u:p@a.example/%23x', 'http://u:p@a.example/#x'],
    ['another script', `url=${coded('https://пример.example/é')}`, 'https://пример.example/é'],
    ['an address', 'url=http://[::1]:8080/x', 'http://[::1]:8080/x'],
    ['4,096 characters', `url=${linkOf(4096)}`, linkOf(4096)],
  ])('accepts a link %s', (_, query, link) => expect(parseLinkParameter(query).link).toBe(link));

  it('returns the trimmed link and the string as sent', () => {
    expect(parseLinkParameter('url=%20%09https://a.example/x%20')).toEqual({
      link: 'https://a.example/x',
      sent: ' \thttps://a.example/x ',
    });
  });

  it.each([
    ['missing', ''],
    ['under another name', 'URL=https://a.example/'],
    ['without a value', 'url'],
    ['empty', 'url='],
    ['blank', 'url=%20+%09'],
    ['empty in the first of two', 'url=&url=https://a.example/'],
    ['a path', 'url=/watch'],
    ['without a scheme', 'url=a.example/watch'],
    ['relative to a scheme', 'url=//a.example/watch'],
    ['file:', 'url=file:///etc/passwd'],
    ['ftp:', 'url=ftp://a.example/x'],
    ['data:', 'url=data:text/plain,x'],
    ['javascript:', 'url=javascript:alert(1)'],
    ['a search', 'url=ytsearch:x'],
    ['an option', 'url=--exec=x'],
    ['http without a host', 'url=http://'],
    ['http with a path for a host', 'url=http:///x'],
    ['http without slashes', 'url=http:a.example'],
    ['http with a query for a host', 'url=http://?v=x'],
    ['http with a fragment for a host', 'url=http://%23x'],
    ['an address cut short', 'url=http://[::1/'],
    ['backslashes', 'url=http:%5C%5Ca.example'],
    ['a host that cannot be', 'url=http://a b.example/'],
    ['a port that cannot be', 'url=http://a.example:70000/'],
    ['userinfo alone', 'url=http://u:p@/x'],
    ['coded twice', `url=${coded(coded('https://a.example/'))}`],
    ['undecodable', 'url=%ZZ'],
    ['not UTF-8', 'url=%FF%FE'],
    ['4,097 characters', `url=${linkOf(4097)}`],
    ['a megabyte', `url=${linkOf(1 << 20)}`],
  ])('rejects a link %s', (_, query) =>
    expect(() => parseLinkParameter(query)).toThrow(
      expect.objectContaining({ details: { type: '/problems/bad-url', title: 'Bad Request', status: 400 } }),
    ),
  );
});
