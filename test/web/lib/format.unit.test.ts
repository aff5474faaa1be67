import { describe, expect, it } from 'vitest';
import { createFormat } from '../../../web/src/format.ts';

const plain = (text: string) =>
  text.replace(/[\u00a0\u202f\u200e\u200f\u061c]/g, (space) => (/\s/.test(space) ? ' ' : ''));
const [en, de, ar] = ['en', 'de', 'ar'].map(createFormat);

describe('createFormat', () => {
  it.each([
    [0, '0 byte'],
    [1, '1 byte'],
    [999, '999 byte'],
    [1000, '1.0 kB'],
    [1234, '1.2 kB'],
    [99_940, '100 kB'],
    [123_456, '123 kB'],
    [999_600, '1.0 MB'],
    [9_940_000, '9.9 MB'],
    [9_960_000, '10 MB'],
    [96_900_000, '97 MB'],
    [1_500_000_000, '1.5 GB'],
    [2e15, '2,000 TB'],
  ])('%d bytes are %s', (bytes, text) => expect(plain(en?.bytes(bytes) ?? '')).toBe(text));

  it.each([
    [0, '0 sec'],
    [0.2, '1 sec'],
    [59, '59 sec'],
    [60, '1 min'],
    [61, '1 min, 1 sec'],
    [3600, '1 hr'],
    [3661, '1 hr, 1 min'],
    [90_000, '1 day, 1 hr'],
  ])('%d seconds are %s', (seconds, text) => expect(plain(en?.duration(seconds) ?? '')).toBe(text));

  it.each([
    [0, '0:00'],
    [61.9, '1:01'],
    [3661, '1:01:01'],
  ])('%d seconds read %s on a clock', (seconds, text) => expect(en?.clock(seconds)).toBe(text));

  it.each([
    [0, 'now'],
    [59_000, '59 seconds ago'],
    [3_600_000, '1 hour ago'],
    [86_400_000, 'yesterday'],
    [-5000, 'now'],
  ])('%d milliseconds are %s', (passed, text) => expect(en?.ago(1e12 - passed, 1e12)).toBe(text));

  it('formats in the locale', () => {
    expect(plain(de?.bytes(48_200_000) ?? '')).toBe('48 MB');
    expect(plain(de?.percent(0.425) ?? '')).toBe('43 %');
    expect(ar?.bytes(48_200_000)).toBeTruthy();
  });
});
