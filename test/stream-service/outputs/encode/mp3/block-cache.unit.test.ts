import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { FileSource } from '@reelay/source';
import { createByteStore } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createComputedExtents } from '../../../../../stream-service/outputs/computed-extents.ts';
import { withBlocks } from '../../../../../stream-service/outputs/encode/frames/block-cache.ts';
import { randomFrom } from './coded-sound.ts';
import { fileSource } from './fixture.ts';

const random = randomFrom(5);
const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => random() * 256));

/** A source that records the requested ranges. */
function noted(options: Parameters<typeof fileSource>[1] = {}) {
  const source = fileSource(bytes, options);
  const asked: string[] = [];
  return {
    ...source,
    asked,
    read(first: number, last = bytes.length - 1) {
      asked.push(`${first}-${last}`);
      return source.read(first, last);
    },
  };
}

const { signal: forever } = new AbortController();

const blocksOf = (source: FileSource, maxBytes = 10_000_000) =>
  withBlocks({ ...source, size: bytes.length }, createComputedExtents(createByteStore(maxBytes)), forever);

describe('withBlocks', () => {
  it('reads adjacent blocks by one request, and each once for concurrent readers', async () => {
    const source = noted();
    const file = blocksOf(source);
    await buffer(file.read(600_000, 600_001));
    const ranges: [number, number?][] = [[0, 999_999], [0], [500_000], [65_535, 65_536]];
    const parts = await Promise.all(ranges.map(([first, last]) => buffer(file.read(first, last))));
    for (const [index, [first, last = 2_999_999]] of ranges.entries())
      expect(parts[index]?.equals(bytes.subarray(first, last + 1)), `${first}`).toBe(true);
    expect(source.asked).toEqual(['589824-655359', '0-589823', '655360-1048575', '1048576-2999999']);
  });

  it('reads each block once for concurrent readers when none can be kept, and ends its read with that of its reader', async () => {
    const source = noted();
    const file = blocksOf(source, 1);
    const parts = await Promise.all([buffer(file.read(0)), buffer(file.read(0)), buffer(file.read(100))]);
    expect(parts.map((part) => part.equals(bytes.subarray(3_000_000 - part.length)))).toEqual([true, true, true]);
    expect(source.asked).toEqual(['0-2999999']);
    const stream = file.read(0);
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => source.reading.size).toBe(0);
  });

  it('goes on for a reader when the one that requested its block has left', async () => {
    const source = noted();
    const file = blocksOf(source);
    const first = file.read(0);
    await once(first, 'readable');
    const second = buffer(file.read(100_000, 400_000));
    first.destroy();
    expect((await second).equals(bytes.subarray(100_000, 400_001))).toBe(true);
    expect(source.asked).toEqual(['0-2999999']);
    await expect.poll(() => source.reading.size).toBe(0);
  });

  it('reads what is far behind a request by another, at which the first one ends', async () => {
    const source = noted();
    const file = blocksOf(source);
    const first = file.read(0);
    await once(first, 'readable');
    const far = await buffer(file.read(2_000_000, 2_000_001));
    expect(far).toEqual(bytes.subarray(2_000_000, 2_000_002));
    expect((await buffer(first)).equals(bytes)).toBe(true);
    expect(source.asked).toEqual(['0-2999999', '1966080-2031615', '2031616-2999999']);
  });

  it('evicts the least recently used blocks', async () => {
    const source = noted();
    const file = blocksOf(source, 2 * 65_536);
    await buffer(file.read(0, 131_071));
    await buffer(file.read(131_072, 131_073));
    await buffer(file.read(65_536, 65_537));
    expect(source.asked).toEqual(['0-131071', '131072-196607']);
    await buffer(file.read(0, 10));
    expect(source.asked.at(-1)).toBe('0-65535');
  });

  it('passes failures on without caching them', async () => {
    const source = noted({ cutAt: 600_000 });
    const file = blocksOf(source);
    await expect(buffer(file.read(0))).rejects.toThrow('The source failed');
    expect(await buffer(file.read(600_000, 600_001))).toEqual(bytes.subarray(600_000, 600_002));
    await expect(buffer(file.read(700_000, 700_001))).rejects.toThrow('The source failed');
    expect(source.asked).toEqual(['0-2999999', '655360-720895']);
  });

  it('aborts reads and evicts its blocks when the signal aborts', async () => {
    const [source, other] = [noted(), noted()];
    const over = new AbortController();
    const extents = createComputedExtents(createByteStore(3 * 65_536));
    const open = (of: FileSource, signal: AbortSignal) => withBlocks({ ...of, size: bytes.length }, extents, signal);
    const kept = open(other, forever);
    await buffer(kept.read(0, 10));
    const file = open(source, over.signal);
    await buffer(file.read(0, 10));
    const reading = buffer(file.read(2_000_000));
    over.abort();
    await expect(reading).rejects.toThrow();
    expect(source.reading.size).toBe(0);
    await expect(buffer(file.read(0, 10))).rejects.toThrow();
    // Without the blocks of the first file, there is room for more of the other one.
    await buffer(kept.read(65_536, 65_536));
    await buffer(kept.read(0, 10));
    expect(other.asked).toEqual(['0-65535', '65536-131071']);
  });
});

it('keeps 8 MiB of extents that nothing has used for 30 seconds', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const extents = createComputedExtents();
  const names = Array.from({ length: 12 }, (_, index) => nameOf([], 'extent', index));
  for (const name of names) extents.get(name, 2 ** 20).append(Buffer.alloc(2 ** 20));
  vi.advanceTimersByTime(30_001);
  expect(names.filter((name) => extents.complete(name))).toEqual(names.slice(4));
});
