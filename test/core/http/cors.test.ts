import { describe, expect, it } from 'vitest';
import { corsHeaders, mergeVary, preflightHeaders } from '../../../core/http/cors.ts';

const PAGE = 'https://page.example';
const READABLE = {
  vary: 'Origin',
  'access-control-allow-origin': PAGE,
  'access-control-expose-headers':
    'Content-Disposition, Content-Location, Content-Length, Content-Range, Accept-Ranges, ETag, Estimated-Content-Length, Retry-After, X-Playlist, X-Request-Count, X-Tools',
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
    expect(preflightHeaders(PAGE, [PAGE], 'GET, HEAD')).toEqual({
      ...READABLE,
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'Range, If-Range, Accept, Content-Type, Prefer',
      'access-control-max-age': '7200',
    }));

  it('contains only Allow for an origin that is not allowed', () =>
    expect(preflightHeaders('https://evil.example', [PAGE], 'GET')).toEqual({ vary: 'Origin', allow: 'GET, OPTIONS' }));
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
