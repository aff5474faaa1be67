import { describe, expect, it } from 'vitest';
import { chooseJsonType, renderJson } from '../../../layers/contract/index.ts';

describe('chooseJsonType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/plain', 'text/plain'],
    ['Text/JSON', 'text/json'],
    ['text/plain;q=0.5, text/json;q=0.9', 'text/json'],
    ['text/plain, text/json', 'application/json'],
    ['text/*', 'application/json'],
    ['text/*;q=0.5, text/plain', 'text/plain'],
    ['*/*;q=0.9, text/plain;q=0.1', 'application/json'],
    ['application/json;q=0, text/plain;q=0.2', 'text/plain'],
    ['text/plain;q=2, text/json;q=0.1', 'text/json'],
    ['text/plain; charset=utf-8; q=0.3', 'text/plain'],
    ['application/problem+json', 'application/json'],
    [';;;,,,', 'application/json'],
    [`${'a/b,'.repeat(10_000)}text/plain`, 'application/json'],
  ])('%.60j gives %s', (accept, type) => expect(chooseJsonType(accept)).toBe(type));
});

describe('renderJson', () => {
  it('says the charset and what it depends on', () =>
    expect(renderJson({ title: 'ä' }, 'text/plain')).toEqual({
      headers: { 'content-type': 'text/plain; charset=utf-8', vary: 'Accept' },
      body: '{"title":"ä"}',
    }));
});
