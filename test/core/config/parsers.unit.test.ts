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
});

/** Texts that are read as lists of themselves. */
const lists = (...texts: string[]) => texts.map((text): [string, unknown] => [text, text.split(/, ?/)]);
const numbers = (...texts: string[]) => texts.map((text): [string, unknown] => [text, Number(text)]);

describe.each<[string, Parser<unknown>, [text: string, value: unknown][], refused: string[]]>([
  [
    'flag',
    flag,
    [
      ...['on', 'TRUE', '1', 'yes'].map((text): [string, unknown] => [text, true]),
      ...['off', 'False', '0', 'no'].map((text): [string, unknown] => [text, false]),
    ],
    ['turn on', 'ono', 'switch off', 'offer', ''],
  ],
  [
    'origins',
    origins,
    [],
    ['xhttp://a.example', 'httpx://a.example', 'ftp://a.example', 'a.example', 'https://a.example/path'],
  ],
  ['links', links, lists('http://a.example/x?y,https://b.example'), ['ftp://a.example/', 'a.example', 'http://']],
  ['hostPorts', hostPorts, lists('a:1, b:2'), ['a:1,b', '*:80']],
  [
    'hostNames',
    hostNames,
    lists('media.lan', '192.0.2.1', '[2001:db8::1]', 'x'),
    ['media.lan:80', 'a/b', 'user@host', '*.lan', 'a b', '[zz]', '300.300.300.300', '[::1', 'x?y'],
  ],
  [
    'proxyUrls',
    proxyUrls,
    [
      ...lists('http://proxy.example', 'https://user:p%40ss@proxy.example:3128'),
      ...lists('socks5://user:p%40ss@proxy.example:9050'),
      ['socks5h://PROXY.example', ['socks5://proxy.example:1080']],
      ['SOCKS5://user@[2001:db8::1]:80/', ['socks5://user@[2001:db8::1]:80']],
      ['10.1.2.3:8080:alice:p4ss', ['http://alice:p4ss@10.1.2.3:8080']],
      ['proxy.example:3128:al ice:p@s/s:w%rd', ['http://al%20ice:p%40s%2Fs%3Aw%25rd@proxy.example:3128']],
      ['[2001:db8::1]:3128:alice:p4ss', ['http://alice:p4ss@[2001:db8::1]:3128']],
    ],
    [
      'xhttp://proxy.example/',
      'httpx://proxy.example/',
      'http://proxy.example/path',
      'http://proxy.example/?x',
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
    ],
  ],
  [
    'zoneIds',
    zoneIds,
    lists('use1-az1, use1-az2'),
    [
      'use1-az1',
      'use1-az1,use1-az1',
      'use1-az1,euc1-az2',
      'use1-az1,use1-az2,use1-az3',
      'xuse1-az1!,xuse1-az2!',
      'Xuse1-az1,Xuse1-az2',
      'use1-az1x,use1-az2x',
      '',
    ],
  ],
  [
    'dollars',
    dollars(1, 10),
    numbers('1', '1.5', '1.25', '10', '10.00'),
    ['0.99', '10.01', '1.255', '1.', '1x', '$1', ''],
  ],
  ['wholeNumber', wholeNumber(2, 40), numbers('2', '40', '017'), ['1', '41', '2.0', '2x', 'x2', '-2', '1e1', '']],
  [
    'contacts',
    contacts,
    lists('https://a.example/x', 'MAILTO:me@a.example', 'tel:123', 'tel:+49-30'),
    [
      'http://a.example/',
      'xhttps://a.example/',
      'mailto:me',
      'tel:x1',
      'tel:1 2',
      'https://a.example/"',
      "https://a.example/'",
    ],
  ],
  [
    'ytDlpExtractorArgs',
    ytDlpExtractorArgs,
    [[' youtube:player_client=web;a=b \t\n x.y+z:skip-it=1 ', ['youtube:player_client=web;a=b', 'x.y+z:skip-it=1']]],
    [],
  ],
])('%s', (_, parser, accepted, refused) => {
  it.each(accepted)('reads %j as %j', (text, value) => expect(parse(parser, text)).toEqual(value));
  it.each(refused)('rejects %j', (text) => expect(() => parse(parser, text)).toThrow(SettingError));
});

describe('ytDlpExtractorArgs', () => {
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
