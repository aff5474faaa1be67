import { decideRange, predictRange } from '@reelay/seekable-media/http';
import { describe, expect, it } from 'vitest';
import { formatRange } from '../src/request-headers.ts';

describe('decideRange', () => {
  it.each([
    ['bytes=0-99', 1000, { first: 0, last: 99 }],
    ['bytes=900-', 1000, { first: 900, last: 999 }],
    ['bytes=990-5000', 1000, { first: 990, last: 999 }],
    ['bytes=-100', 1000, { first: 900, last: 999 }],
    ['bytes=-5000', 1000, { first: 0, last: 999 }],
    ['BYTES=0-0', 1000, { first: 0, last: 0 }],
    ['bytes=999-999', 1000, { first: 999, last: 999 }],
    ['bytes=0-1000', 1000, { first: 0, last: 999 }],
    ['bytes=-1000', 1000, { first: 0, last: 999 }],
    ['bytes= 0-4 ', 1000, { first: 0, last: 4 }],
    ['bytes=000-004', 1000, { first: 0, last: 4 }],
    ['bytes=0-', 1, { first: 0, last: 0 }],
    ['bytes=0-99999999999999999999999999', 1000, { first: 0, last: 999 }],
    ['bytes=5000000000-5000000009', 6_000_000_000, { first: 5_000_000_000, last: 5_000_000_009 }],
  ])('returns the range that %s selects of %d bytes', (header, size, slice) => {
    expect(decideRange(header, size)).toEqual(slice);
  });

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=9-5',
    'bytes=a-b',
    'bytes=0-1,5-6',
    'items=0-5',
    'bytes 0-5',
    'bytes',
    '=0-1',
    'bytes=100',
    'bytes=--5',
    'bytes=-5-',
    'bytes=1-2-3',
    'bytes=1.5-2',
    'bytes=0x1-2',
    'bytes=+1-2',
    'bytes=-2-1',
    'bytes=0 - 1',
    'bytes=0-1,',
    'bytes=,0-1',
    'bytes=٣-٤',
    'bytes=0-1\n',
    ` ${'9'.repeat(5000)}`,
  ])('ignores %j', (header) => expect(decideRange(header, 1000)).toBe('whole'));

  it.each([
    ['bytes=1000-', 1000],
    ['bytes=-0', 1000],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
    ['bytes=1000-1000', 1000],
    ['bytes=5000-6000', 1000],
    ['bytes=99999999999999999999999999-', 1000],
  ])('%s of %d bytes is unsatisfiable', (header, size) => {
    expect(decideRange(header, size)).toBe('unsatisfiable');
  });
});

describe('predictRange', () => {
  it.each([
    ['bytes=500-', { first: 500 }],
    ['bytes=500-600', { first: 500, last: 600 }],
    ['bytes=500-500', { first: 500, last: 500 }],
    ['bytes=0-', { first: 0 }],
    ['bytes=600-500', { first: 600 }],
    ['bytes=5-99999999999999999999', { first: 5 }],
    ['bytes=-500', { first: 0 }],
    ['bytes=99999999999999999999-', { first: 0 }],
    ['bytes=1-2,5-6', { first: 0 }],
    ['nonsense', { first: 0 }],
    [undefined, { first: 0 }],
  ])('of %s is %o', (header, range) => expect(predictRange(header)).toEqual(range));
});

describe('formatRange', () => {
  it('selects one range', () => expect(formatRange({ first: 0, last: 99 })).toBe('bytes=0-99'));
});
