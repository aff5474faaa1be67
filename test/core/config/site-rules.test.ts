import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';
import { hostMatcher, parseProxyRule, parseSitePattern } from '../../../core/config/site-rules.ts';
import { siteOf } from '../../../core/egress/proxy-pool.ts';

describe('parseSitePattern', () => {
  it.each([
    ['Media.Example', { host: 'media.example', subdomainsOnly: false }],
    ['*.media.example', { host: 'media.example', subdomainsOnly: true }],
    ['media.example.', { host: 'media.example', subdomainsOnly: false }],
  ])('reads %s', (text, pattern) => expect(parseSitePattern(text)).toEqual(pattern));

  it.each(['', '*.', 'a b', 'media.example/path', 'media.example:443', '[', '%'])('rejects %j', (text) =>
    expect(parseSitePattern(text)).toBeUndefined(),
  );
});

describe('siteOf', () => {
  it.each([
    ['https://www.media.example/x', 'media.example'],
    ['https://t.co/x', 't.co'],
    ['https://media.example./x', 'media.example'],
    ['https://a.b.media.co.uk/', 'media.co.uk'],
    ['https://a.media.uk/', 'media.uk'],
    ['https://www.com.example/', 'com.example'],
    ['https://localhost/', 'localhost'],
    ['http://192.0.2.1:81/', '192.0.2.1'],
    ['http://[2001:db8::1]:81/', '[2001:db8::1]'],
    ['no link', ''],
  ])('of %s is %j', (link, site) => expect(siteOf(link)).toBe(site));
});

describe('parseProxyRule', () => {
  it.each([
    ['media.example=Direct', 'direct'],
    ['media.example=12', 12],
  ])('reads %s', (text, proxy) => expect(parseProxyRule(text)).toMatchObject({ host: 'media.example', proxy }));

  it.each([
    'media.example',
    'media.example=',
    'media.example=0',
    'https://media.example=direct',
    'media.example=indirect',
    'a b=1',
    '=1',
  ])('rejects %j', (text) => expect(parseProxyRule(text)).toBeUndefined());
});

describe('settings with site rules', () => {
  it.each([
    ['PROXY_RULES', 'a.example=direct,b.example=socks5://user:secret@proxy', /entry 2 is something else$/],
    ['IMPERSONATE', 'a.example=chrome,b example=chrome', /entry 2 is something else$/],
  ])('name an invalid entry of %s by its number', (name, text, message) => {
    const read = () => readSettings({ OUTGOING_PROXIES: 'http://proxy.example:1', [name]: text });
    expect(read).toThrow(SettingError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/secret/);
  });
});

describe('hostMatcher', () => {
  const matches = hostMatcher(['GoogleVideo.com', 'media.example']);

  it.each([
    ['https://rr3---sn-4g5e6nzl.googlevideo.com/videoplayback?x=1', true],
    ['https://googlevideo.com./x', true],
    ['https://media.example:8443/x', true],
    ['https://notgooglevideo.com/x', false],
    ['https://googlevideo.com.example/x', false],
    ['not a URL', false],
  ])('%s: %s', (url, expected) => expect(matches(url)).toBe(expected));

  it('is false of every URL without such a host', () => {
    expect(hostMatcher(['off'])('https://a.googlevideo.com/')).toBe(false);
  });
});
