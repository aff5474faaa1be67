import { parseHostPort } from '@reelay/guarded-fetch/host-port';
import { describe, expect, it } from 'vitest';
import {
  contacts,
  dollars,
  flag,
  hostNames,
  hostPorts,
  links,
  origins,
  type Parser,
  proxyUrls,
  SettingError,
  wholeNumber,
  ytDlpExtractorArgs,
  zoneIds,
} from '../../../core/config/parsers.ts';

const parse = <T>(parser: Parser<T>, text: string) => parser('NAME', text);
const rejects = (parser: Parser<unknown>, text: string) => expect(() => parse(parser, text)).toThrow(SettingError);

describe('SettingError', () => {
  it('has its name, and at most 100 characters of the value', () => {
    const text = 'x'.repeat(101);
    expect(() => parse(flag, text)).toThrow(
      expect.objectContaining({
        name: 'SettingError',
        message: `NAME must be on or off, not "${'x'.repeat(100)}"`,
      }),
    );
  });

  it('does not repeat a value that may contain a password', () =>
    expect(() => parse(flag, 'user:pass@host')).toThrow(
      expect.objectContaining({ message: 'NAME must be on or off' }),
    ));
});

describe('flag', () => {
  it.each(['on', 'TRUE', '1', 'yes'])('reads %s as true', (text) => expect(parse(flag, text)).toBe(true));
  it.each(['off', 'False', '0', 'no'])('reads %s as false', (text) => expect(parse(flag, text)).toBe(false));
  it.each(['turn on', 'ono', 'switch off', 'offer', ''])('rejects %j', (text) => rejects(flag, text));
});

describe('origins', () => {
  it.each(['xhttp://a.example', 'httpx://a.example', 'ftp://a.example', 'a.example', 'https://a.example/path'])(
    'rejects %s',
    (text) => rejects(origins, text),
  );
});

describe('links', () => {
  it('accepts http and https', () =>
    expect(parse(links, 'http://a.example/x?y,https://b.example')).toEqual([
      'http://a.example/x?y',
      'https://b.example',
    ]));
  it.each(['ftp://a.example/', 'a.example', 'http://'])('rejects %s', (text) => rejects(links, text));
});

describe('parseHostPort', () => {
  it.each([
    ['Media.lan:1', { hostname: 'media.lan', port: 1 }],
    ['media.lan:65535', { hostname: 'media.lan', port: 65_535 }],
    ['[::1]:81', { hostname: '[::1]', port: 81 }],
    ['media.lan:65536', undefined],
    ['media.lan:0', undefined],
    ['300.300.300.300:80', undefined],
    ['media.lan', undefined],
    ['', undefined],
  ])('of %j is %j', (text, expected) => expect(parseHostPort(text)).toEqual(expected));

  it('is what hostPorts checks', () => {
    expect(parse(hostPorts, 'a:1, b:2')).toEqual(['a:1', 'b:2']);
    rejects(hostPorts, 'a:1,b');
    rejects(hostPorts, '*:80');
  });
});

describe('hostNames', () => {
  it.each(['media.lan', '192.0.2.1', '[2001:db8::1]', 'x'])('accepts %s', (text) =>
    expect(parse(hostNames, text)).toEqual([text]),
  );
  it.each(['media.lan:80', 'a/b', 'user@host', '*.lan', 'a b', '[zz]', '300.300.300.300', '[::1', 'x?y'])(
    'rejects %s',
    (text) => rejects(hostNames, text),
  );
});

describe('proxyUrls', () => {
  it.each([
    'xhttp://proxy.example/',
    'httpx://proxy.example/',
    'http://proxy.example/path',
    'http://a:%@proxy.example',
    'socks4://proxy.example:1080',
    'socks5://proxy.example/path',
    'socks5://a:%@proxy.example:1080',
    'socks5://300.300.300.300:1080',
    `socks5://${'a'.repeat(256)}@proxy.example:1080`,
    'proxy.example:3128',
    'proxy.example:70000:user:word',
    'proxy.example:3128:user:',
    'a/b:3128:user:word',
  ])('rejects %s', (text) => rejects(proxyUrls, text));
  it.each(['http://proxy.example', 'https://user:p%40ss@proxy.example:3128'])('accepts %s', (text) =>
    expect(parse(proxyUrls, text)).toEqual([text]),
  );
  it.each([
    ['socks5://user:p%40ss@proxy.example:9050', 'socks5://user:p%40ss@proxy.example:9050'],
    ['socks5h://PROXY.example', 'socks5://proxy.example:1080'],
    ['SOCKS5://user@[2001:db8::1]:80/', 'socks5://user@[2001:db8::1]:80'],
    ['10.1.2.3:8080:alice:p4ss', 'http://alice:p4ss@10.1.2.3:8080'],
    ['proxy.example:3128:al ice:p@s/s:w%rd', 'http://al%20ice:p%40s%2Fs%3Aw%25rd@proxy.example:3128'],
    ['[2001:db8::1]:3128:alice:p4ss', 'http://alice:p4ss@[2001:db8::1]:3128'],
  ])('normalizes %s', (text, url) => expect(parse(proxyUrls, text)).toEqual([url]));
});

describe('zoneIds', () => {
  it('accepts two zones of one region', () =>
    expect(parse(zoneIds, 'use1-az1, use1-az2')).toEqual(['use1-az1', 'use1-az2']));
  it.each([
    'use1-az1',
    'use1-az1,use1-az1',
    'use1-az1,euc1-az2',
    'use1-az1,use1-az2,use1-az3',
    'xuse1-az1!,xuse1-az2!',
    'Xuse1-az1,Xuse1-az2',
    'use1-az1x,use1-az2x',
    '',
  ])('rejects %j', (text) => rejects(zoneIds, text));
});

describe('numbers', () => {
  it.each<[string, Parser<number>, readonly string[], readonly string[]]>([
    [
      'of dollars',
      dollars(1, 10),
      ['1', '1.5', '1.25', '10', '10.00'],
      ['0.99', '10.01', '1.255', '1.', '1x', '$1', ''],
    ],
    ['of units', wholeNumber(2, 40), ['2', '40', '017'], ['1', '41', '2.0', '2x', 'x2', '-2', '1e1', '']],
  ])('%s are read within their bounds, and nothing else', (_, parser, accepted, refused) => {
    expect(accepted.map((text) => parse(parser, text))).toEqual(accepted.map(Number));
    for (const text of refused) rejects(parser, text);
  });
});

describe('contacts', () => {
  it.each(['https://a.example/x', 'MAILTO:me@a.example', 'tel:123', 'tel:+49-30'])('accept %s', (text) =>
    expect(parse(contacts, text)).toEqual([text]),
  );
  it.each([
    'http://a.example/',
    'xhttps://a.example/',
    'mailto:me',
    'tel:x1',
    'tel:1 2',
    'https://a.example/"',
    "https://a.example/'",
  ])('reject %s', (text) => rejects(contacts, text));
});

describe('ytDlpExtractorArgs', () => {
  it('are separated by any blanks', () =>
    expect(parse(ytDlpExtractorArgs, ' youtube:player_client=web;a=b \t\n x.y+z:skip-it=1 ')).toEqual([
      'youtube:player_client=web;a=b',
      'x.y+z:skip-it=1',
    ]));
  it.each([
    '!youtube:a=b',
    'youtube:!a=b',
    'youtube:=b',
    ':a=b',
    'youtube',
    'po_token=s3cret',
    '--exec s3cret',
    'youtube:s3cret',
    'youtube:a=',
  ])('reject %s by position', (text) => {
    const read = () => parse(ytDlpExtractorArgs, `youtube:a=b ${text}`);
    expect(read).toThrow(/^NAME must be [^\n]+ entry 2 is something else$/);
    expect(read).not.toThrow('s3cret');
  });
});
