import { digestOf } from '@reelay/seekable-media/values';
import { describe, expect, it } from 'vitest';
import { entityTag } from '../../../core/http/response-headers.ts';

describe('digestOf', () => {
  it('differs for values whose parts have the same text', () => {
    const values = [['a', 'bc'], ['ab', 'c'], ['abc'], 'abc', 'abcd'];
    expect(new Set(values.map((value) => digestOf(value))).size).toBe(values.length);
  });

  it('is the same for text and its bytes, in as many characters as are wanted', () => {
    expect(digestOf('abc')).toBe(digestOf(Buffer.from('abc')));
    expect(digestOf('abc', 11)).toBe(digestOf('abc').slice(0, 11));
    expect(entityTag('abc')).toMatch(/^"[\w-]{22}"$/);
  });
});
