import { formatContentRange } from '@reelay/seekable-media/http';
import { describe, expect, it } from 'vitest';
import { parseContentRange, parseLength, parseUnsatisfiedRange } from '../src/request-headers.ts';

describe('formatContentRange', () => {
  it('names the range and the size', () =>
    expect(formatContentRange({ first: 0, last: 99 }, 1234)).toBe('bytes 0-99/1234'));

  it('names the size alone without a range', () => expect(formatContentRange(undefined, 1234)).toBe('bytes */1234'));
});

describe('parseContentRange', () => {
  it.each([
    ['bytes 0-99/1000', { first: 0, last: 99, total: 1000 }],
    ['BYTES  5-5/6', { first: 5, last: 5, total: 6 }],
    [' bytes 0-0/* ', { first: 0, last: 0, total: undefined }],
  ])('parses %j', (header, range) => expect(parseContentRange(header)).toEqual(range));

  it.each([
    undefined,
    '',
    'bytes */1000',
    'bytes 5-4/10',
    'bytes 0-10/10',
    'items 0-1/2',
    'bytes 0-1',
    'bytes=0-1/2',
    'bytes -1-1/2',
    'bytes 0-1/2, bytes 0-1/2',
    'bytes 0-99999999999999999999/*',
  ])('rejects %j', (header) => expect(parseContentRange(header)).toBeUndefined());
});

describe('parseUnsatisfiedRange', () => {
  it.each([
    ['bytes */1000', 1000],
    [' bytes */1000 ', 1000],
    ['bytes */*', undefined],
    ['bytes 0-1/2', undefined],
    [undefined, undefined],
  ])('returns the size of %j: %j', (header, total) => expect(parseUnsatisfiedRange(header)).toBe(total));
});

describe('parseLength', () => {
  it.each([
    ['1000', 1000],
    ['-1', undefined],
    ['1e3', undefined],
    ['9999999999999999', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('returns the bytes of %j: %j', (header, bytes) => expect(parseLength(header)).toBe(bytes));
});
