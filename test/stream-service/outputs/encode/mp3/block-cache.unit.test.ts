import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createBlockCache } from '../../../../../stream-service/outputs/encode/frames/block-cache.ts';
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
    ['the seam of two blocks', 65_535, 65_536],
    ['the last byte', 2_999_999, 2_999_999],
    ['the tail', 2_500_000, undefined],
  ])('reads %s', async (_, first, last) => {
    const file = createBlockCache(10_000_000).wrap(fileSource(bytes), forever());
    expect(await buffer(file.read(first, last))).toEqual(bytes.subarray(first, (last ?? 2_999_999) + 1));
  });

  it('reads adjacent blocks by one request, and each once for concurrent readers', async () => {
    const source = noted();
    const file = createBlockCache(10_000_000).wrap(source, forever());
    await buffer(file.read(600_000, 600_001));
    const parts = await Promise.all([buffer(file.read(0, 999_999)), buffer(file.read(0)), buffer(file.read(500_000))]);
    expect(parts.map((part) => part.equals(bytes.subarray(3_000_000 - part.length)))).toEqual([false, true, true]);
    expect(parts[0]?.equals(bytes.subarray(0, 1_000_000))).toBe(true);
    expect(source.asked).toEqual(['589824-655359', '0-589823', '655360-1048575', '1048576-2999999']);
  });

  it('evicts the least recently used blocks', async () => {
    const source = noted();
    const file = createBlockCache(2 * 65_536).wrap(source, forever());
    await buffer(file.read(0, 131_071));
    await buffer(file.read(131_072, 131_073));
    await buffer(file.read(65_536, 65_537));
    expect(source.asked).toEqual(['0-131071', '131072-196607']);
    await buffer(file.read(0, 10));
    expect(source.asked.at(-1)).toBe('0-65535');
  });

  it('passes failures on without caching them', async () => {
    const source = noted({ cutAt: 600_000 });
    const file = createBlockCache(10_000_000).wrap(source, forever());
    await expect(buffer(file.read(0))).rejects.toThrow('The source failed');
    expect(await buffer(file.read(600_000, 600_001))).toEqual(bytes.subarray(600_000, 600_002));
    await expect(buffer(file.read(700_000, 700_001))).rejects.toThrow('The source failed');
    expect(source.asked).toEqual(['0-2999999', '655360-720895']);
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
