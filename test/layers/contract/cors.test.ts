import { describe, expect, it } from 'vitest';
import { corsHeaders, joinVary, preflightHeaders } from '../../../layers/contract/index.ts';

const ALLOWED = ['https://app.example'];

describe('corsHeaders', () => {
  it('echoes an allowed origin and says what may be read', () =>
    expect(corsHeaders('https://app.example', ALLOWED)).toMatchObject({
      vary: 'Origin',
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': expect.stringContaining('Estimated-Content-Length'),
    }));

  it('echoes any origin for *', () =>
    expect(corsHeaders('https://any.example', ['*'])).toHaveProperty(
      'access-control-allow-origin',
      'https://any.example',
    ));

  it.each(['https://evil.example', 'http://app.example', 'https://app.example.evil.example', 'null', undefined])(
    'says nothing to %j but that it depends on the origin',
    (origin) => expect(corsHeaders(origin, ALLOWED)).toEqual({ vary: 'Origin' }),
  );

  it('says nothing at all where no origin is allowed', () =>
    expect(corsHeaders('https://app.example', [])).toEqual({}));
});

describe('preflightHeaders', () => {
  it('permits ranges to an allowed origin', () =>
    expect(preflightHeaders('https://app.example', ALLOWED, 'GET, HEAD')).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': expect.stringMatching(/\bRange\b.*\bIf-Range\b/),
    }));

  it('permits nothing to another', () =>
    expect(preflightHeaders('https://evil.example', ALLOWED, 'GET')).toEqual({
      vary: 'Origin',
      allow: 'GET, OPTIONS',
    }));
});

it('joinVary names each field once', () =>
  expect(joinVary('Accept', undefined, 'Origin, Accept')).toBe('Accept, Origin'));
