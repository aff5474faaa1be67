import { matchesEntityTag } from '@reelay/seekable-media/http';
import { describe, expect, it } from 'vitest';
import { chooseJsonType, prefersHtml, readWaitPreference, renderJson } from '../../../core/http/negotiation.ts';

describe('chooseJsonType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'application/json'],
    ['text/plain', 'text/plain'],
    ['TEXT/Json', 'text/json'],
    ['text/plain;q=0.5, text/json;q=0.9', 'text/json'],
    ['application/json;q=0.1, text/*;q=0.1, text/plain;q=0.2', 'text/plain'],
    ['text/plain, */*;q=0.1', 'text/plain'],
    ['text/plain, */*', 'application/json'],
    ['*/*;q=0.9, text/plain;q=0.1', 'application/json'],
    ['text/*;q=0.5, text/plain', 'text/plain'],
    ['text/json, text/plain', 'application/json'],
    ['application/json;q=0, text/plain', 'text/plain'],
    ['application/problem+json', 'application/json'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['text/plain ; charset=utf-8 ; q=0.9', 'text/plain'],
    ['text/plain;q=2', 'application/json'],
    ['text/plain;q=x1, text/json;q=0.1', 'text/json'],
    ['text/plain;q=1x, text/json;q=0.1', 'text/json'],
    ['text/plain;q=1.000, text/json;q=0.9', 'text/plain'],
    ['application/*, text/plain;q=0.5', 'application/json'],
    ['text/plain;q=-1, text/json;q=0.001', 'text/json'],
    [',,;q=1,/', 'application/json'],
    ['x/y,'.repeat(100_000), 'application/json'],
  ])('returns for Accept %.60j: %s', (accept, type) => expect(chooseJsonType(accept)).toBe(type));
});

it.each([
  [undefined, false],
  ['*/*', false],
  ['text/*', false],
  ['text/html', true],
  ['TEXT/HTML;q=0.1', true],
  ['text/html;q=0', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
  ['text/html, application/json', false],
  ['text/html;q=0.9, text/plain;q=0.8', true],
  ['text/html;q=0.8, text/json;q=0.9', false],
  ['text/html, */*', false],
  ['image/avif,image/webp,*/*;q=0.8', false],
  ['text/html,'.repeat(100_000), true],
])('Accept %.60j prefers HTML to JSON: %s', (accept, isPreferred) => expect(prefersHtml(accept)).toBe(isPreferred));

describe('renderJson', () => {
  it('sets the charset, and Vary to Accept', () => {
    expect(renderJson({ title: 'é' }, 'text/plain')).toEqual({
      headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Accept' },
      body: '{"title":"é"}',
    });
  });
});

describe('readWaitPreference', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['wait=3', 3],
    ['wait=0', 0],
    ['Wait = "10"', 10],
    ['respond-async, wait=5; foo="a", handling=lenient', 5],
    ['wait=2, wait=9', 2],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=-1', undefined],
    ['wait=1.5', undefined],
    ['wait=1e3', undefined],
    ['wait=99999999', undefined],
    ['await=3', undefined],
    ['x-wait=3, wait=5', 5],
    ['wait x wait=3', undefined],
    ['wait=3x', undefined],
    [`${'a,'.repeat(100_000)}wait=3`, undefined],
  ])('returns for Prefer %.60j: %s', (prefer, seconds) => expect(readWaitPreference(prefer)).toBe(seconds));
});

describe('matchesEntityTag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b" , W/"a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['"W/a"', false],
    ['', false],
    [undefined, false],
  ])('compares If-None-Match %j with "a": %j', (ifNoneMatch, matches) =>
    expect(matchesEntityTag(ifNoneMatch, '"a"')).toBe(matches),
  );

  it('leaves what only looks weak inside of a tag', () => expect(matchesEntityTag('"aW/"', '"a"')).toBe(false));
});
