import { describe, expect, it } from 'vitest';
import {
  corsHeaders,
  crossSiteHeaders,
  isCrossSiteSubrequest,
  isForCrossSite,
  isForeignPage,
  mergeVary,
  preflightHeaders,
} from '../../../core/http/response-headers.ts';

const PAGE = 'https://page.example';
const READABLE = {
  vary: 'Origin',
  'access-control-allow-origin': PAGE,
  'access-control-expose-headers':
    'Content-Disposition, Content-Location, Content-Length, Content-Range, Accept-Ranges, ETag, Estimated-Content-Length, Retry-After, X-Argon-Start, X-Maintenance, X-Playlist, X-Request-Count, X-Tools',
};

describe('corsHeaders', () => {
  it.each([
    ['one that is allowed', PAGE, [PAGE], READABLE],
    ['one of several', PAGE, ['https://other.example', PAGE], READABLE],
    ['any, where * is allowed', PAGE, ['*'], READABLE],
    ['none', undefined, [PAGE], { vary: 'Origin' }],
    ['none, where * is allowed', undefined, ['*'], { vary: 'Origin' }],
    ['one where none is allowed', PAGE, [], {}],
    ['a stranger', 'https://evil.example', [PAGE], { vary: 'Origin' }],
    ['one that begins alike', `${PAGE}.evil.example`, [PAGE], { vary: 'Origin' }],
    ['another scheme', 'http://page.example', [PAGE], { vary: 'Origin' }],
    ['another port', `${PAGE}:8443`, [PAGE], { vary: 'Origin' }],
    ['an opaque one', 'null', [PAGE], { vary: 'Origin' }],
    ['an empty one', '', [PAGE], { vary: 'Origin' }],
  ])('returns the headers for %s', (_, origin, allowed, headers) =>
    expect(corsHeaders(origin, allowed)).toEqual(headers),
  );
});

describe('preflightHeaders', () => {
  it('allows the headers that a player sends', () =>
    expect(preflightHeaders({ origin: PAGE, allowed: [PAGE], methods: 'GET, HEAD' })).toEqual({
      ...READABLE,
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers':
        'Range, If-Range, Accept, Accept-Encoding, Content-Type, Prefer, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
      'access-control-max-age': '7200',
    }));

  it('contains only Allow for an origin that is not allowed', () =>
    expect(preflightHeaders({ origin: 'https://evil.example', allowed: [PAGE], methods: 'GET' })).toEqual({
      vary: 'Origin',
      allow: 'GET, OPTIONS',
    }));
});

describe('isCrossSiteSubrequest', () => {
  const check = (sent: Record<string, string>, allowed: readonly string[]) =>
    isCrossSiteSubrequest((name) => ({ 'sec-fetch-site': 'cross-site', ...sent })[name], allowed);
  const navigation = (dest: string) => ({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': dest });
  const fetched = (origin: string) => ({ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin });

  it.each<[string, Record<string, string>]>([
    ['a fetch of a page', fetched('https://evil.example')],
    ['a fetch of a page without TLS', fetched('http://evil.example')],
    ['a fetch of a sandboxed frame, a data: URL or after a redirect', fetched('null')],
    ['a stranger that sends no mode', { origin: 'https://evil.example' }],
    ['an image, a script, a fetch without CORS', { 'sec-fetch-mode': 'no-cors' }],
    ['an image, whatever it claims', { 'sec-fetch-mode': 'no-cors', origin: PAGE }],
    ...['iframe', 'frame', 'fencedframe', 'embed', 'object'].map((dest): [string, Record<string, string>] => [
      `a frame: ${dest}`,
      navigation(dest),
    ]),
    ['a frame that sends no mode', { 'sec-fetch-dest': 'iframe' }],
    ['an image of a page that begins alike', { 'sec-fetch-mode': 'no-cors', referer: `${PAGE}.evil.example/` }],
    ['a fetch, whose origin counts', { ...fetched('https://evil.example'), referer: `${PAGE}/` }],
    ['a navigation that is only expected', { ...navigation('document'), 'sec-purpose': 'prefetch;prerender' }],
  ])('is true for %s', (_, sent) => expect(check(sent, [PAGE])).toBe(true));

  it.each<[string, Record<string, string>, readonly string[]]>([
    ['a navigation of a tab', navigation('document'), []],
    ['a page of an allowed origin', fetched(PAGE), [PAGE]],
    ['any page, where * is allowed', fetched('https://evil.example'), ['*']],
    ['an image, where * is allowed', { 'sec-fetch-mode': 'no-cors' }, ['*']],
    ['an image of an allowed page', { 'sec-fetch-mode': 'no-cors', referer: `${PAGE}/player?v=1` }, [PAGE]],
    ['a frame of an allowed page', { ...navigation('iframe'), referer: `${PAGE}/` }, [PAGE]],
    ['an extension of Chromium', fetched('chrome-extension://bioiopeolddjgahodhnfkaealikedinp'), []],
    ['an extension of Firefox', fetched('moz-extension://d7101d63-b369-4ef1-b185-89e602e14ae4'), []],
    ['an app with a scheme of its own', fetched('capacitor://localhost'), []],
    ['an app whose scheme ends like that of pages', fetched('app-https://page.example'), []],
    ['a client that sends nothing else', {}, []],
    ['a page of the same site', { ...fetched('https://evil.example'), 'sec-fetch-site': 'same-site' }, []],
    ['a page of the instance', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'same-origin' }, []],
    ['an address that was typed', { ...navigation('document'), 'sec-fetch-site': 'none' }, []],
  ])('is false for %s', (_, sent, allowed) => expect(check(sent, allowed)).toBe(false));

  it('is false for clients without these headers', () =>
    expect(isCrossSiteSubrequest((name) => (name === 'origin' ? 'https://evil.example' : undefined), [])).toBe(false));
});

describe('what caches and browsers keep from pages of other sites', () => {
  const cached = { vary: 'Sec-Fetch-Site' };

  it.each<[readonly string[], object]>([
    [[], { ...cached, 'cross-origin-resource-policy': 'same-site' }],
    // Whose players and pictures send no origin.
    [[PAGE], cached],
    [['*'], {}],
  ])('is said with %j allowed', (allowed, headers) => expect(crossSiteHeaders(allowed)).toEqual(headers));

  it.each([
    ['same-origin', undefined, false],
    ['cross-site', undefined, true],
    ['cross-site', 'https://evil.example', true],
    // The origin is in the key of the cache.
    ['cross-site', PAGE, false],
  ])('is the answer to %s from %s: %s', (site, origin, expected) => {
    const headers: Readonly<Record<string, string | undefined>> = { 'sec-fetch-site': site, origin };
    expect(isForCrossSite((name) => headers[name], [PAGE])).toBe(expected);
  });
});

describe('mergeVary', () => {
  it.each([
    [['Accept', 'Origin'], 'Accept, Origin'],
    [['Accept, Origin', 'Origin'], 'Accept, Origin'],
    [['Accept,Origin', 'Origin'], 'Accept, Origin'],
    [[undefined, 'Origin'], 'Origin'],
    [['', 'Origin'], 'Origin'],
    [[undefined, undefined], ''],
  ])('merges %j', (fields, joined) => expect(mergeVary(...fields)).toBe(joined));
});

describe('isForeignPage', () => {
  const OWN = 'https://own.example:8443';

  it.each([
    [undefined, [], OWN, false],
    ['https://evil.example', [], OWN, true],
    ['https://own.example', [], OWN, true],
    [OWN, [], OWN, false],
    // Behind a proxy that serves HTTPS.
    ['http://own.example:8443', [], OWN, false],
    [PAGE, [PAGE], OWN, false],
    ['https://evil.example', ['*'], OWN, false],
    ['null', [PAGE], OWN, true],
    ['null', [], undefined, true],
    [OWN, [], undefined, true],
    // Origins of no page:
    ['chrome-extension://abc', [], OWN, false],
    ['app-https://page.example', [], OWN, false],
    ['capacitor://localhost', [], OWN, false],
  ])('of %s with %j allowed at %s is %s', (origin, allowed, own, expected) =>
    expect(isForeignPage(origin, allowed, own)).toBe(expected),
  );

  it('is true of any page where the own address is not known', () =>
    expect([undefined, '', 'no URL'].map((own) => isForeignPage(PAGE, [], own))).toEqual([true, true, true]));
});
