import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createBlockCache } from '../../../../stream-service/conversions/frames/block-cache.ts';
import { randomFrom } from './coded-sound.ts';
import { fileSource } from './fixture.ts';

const random = randomFrom(5);
const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => random() * 256));
const forever = () => new AbortController().signal;

/** A source that records the requested ranges. */
function noted(options: Parameters<typeof fileSource>[1] = {}) {
  const source = fileSource(bytes, options);
  const asked: string[] = [];
  return {
    ...source,
    asked,
    read(first: number, last?: number) {
      asked.push(`${first}-${last}`);
      return source.read(first, last);
    },
  };
}

describe('createBlockCache', () => {
  it.each([
    ['all', 0, undefined],
    ['one byte', 1_000_000, 1_000_000],
    ['the seam of two blocks', 524_287, 524_288],
    ['the last byte', 2_999_999, 2_999_999],
    ['the tail', 2_500_000, undefined],
  ])('reads %s', async (_, first, last) => {
    const file = createBlockCache(10_000_000).wrap(fileSource(bytes), forever());
    expect(await buffer(file.read(first, last))).toEqual(bytes.subarray(first, (last ?? 2_999_999) + 1));
  });

  it('reads each block once for concurrent readers', async () => {
    const source = noted();
    const file = createBlockCache(10_000_000).wrap(source, forever());
    const parts = await Promise.all([buffer(file.read(0)), buffer(file.read(0)), buffer(file.read(600_000))]);
    expect(parts.map(({ length }) => length)).toEqual([3_000_000, 3_000_000, 2_400_000]);
    expect(source.asked.length).toBe(6);
    expect(new Set(source.asked).size).toBe(6);
  });

  it('evicts the least recently used blocks', async () => {
    const source = noted();
    const file = createBlockCache(2 * 524_288).wrap(source, forever());
    await buffer(file.read(0));
    await buffer(file.read(2_999_000));
    expect(source.asked.length).toBe(6);
    await buffer(file.read(0, 10));
    expect(source.asked.length).toBe(7);
  });

  it('passes failures on without caching them', async () => {
    const source = noted({ cutAt: 600_000 });
    const file = createBlockCache(10_000_000).wrap(source, forever());
    await expect(buffer(file.read(0))).rejects.toThrow('The source failed');
    await expect(buffer(file.read(700_000, 700_001))).rejects.toThrow('The source failed');
    expect(source.asked.filter((range) => range.startsWith('524288-')).length).toBe(2);
  });

  it('aborts reads and evicts its blocks when the signal aborts', async () => {
    const source = noted();
    const over = new AbortController();
    const cache = createBlockCache(10_000_000);
    const file = cache.wrap(source, over.signal);
    await buffer(file.read(0, 10));
    const reading = buffer(file.read(2_000_000));
    over.abort();
    await expect(reading).rejects.toThrow();
    expect(source.reading.size).toBe(0);
    expect((await buffer(cache.wrap(source, forever()).read(0, 10))).length).toBe(11);
    expect(source.asked.filter((range) => range.startsWith('0-')).length).toBe(2);
  });

  it('returns a file of unknown size unchanged', () => {
    const source = fileSource(bytes, { sized: false });
    expect(createBlockCache(1).wrap(source, forever())).toBe(source);
  });
});
