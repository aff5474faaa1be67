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

/** A noted source through blocks. */
function startBlocks({ maxBytes = 10_000_000, ...options }: { maxBytes?: number; cutAt?: number } = {}) {
  const { asked, reading, ...source } = noted(options);
  const extents = createComputedExtents(createByteStore(maxBytes));
  const { read } = withBlocks({ ...source, size: bytes.length }, extents, forever);
  return { asked, reading, read, load: (first: number, last?: number) => buffer(read(first, last)) };
}

describe('withBlocks', () => {
  it('reads adjacent blocks by one request, and each once for concurrent readers', async () => {
    const { asked, load } = startBlocks();
    await load(600_000, 600_001);
    const ranges: [number, number?][] = [[0, 999_999], [0], [500_000], [65_535, 65_536]];
    const parts = await Promise.all(ranges.map(([first, last]) => load(first, last)));
    for (const [index, [first, last = 2_999_999]] of ranges.entries())
      expect(parts[index]?.equals(bytes.subarray(first, last + 1)), `${first}`).toBe(true);
    expect(asked).toEqual(['589824-655359', '0-589823', '655360-1048575', '1048576-2999999']);
  });

  it('reads each block once for concurrent readers when none can be kept, and ends its read with that of its reader', async () => {
    const { asked, reading, read, load } = startBlocks({ maxBytes: 1 });
    const parts = await Promise.all([load(0), load(0), load(100)]);
    expect(parts.map((part) => part.equals(bytes.subarray(3_000_000 - part.length)))).toEqual([true, true, true]);
    expect(asked).toEqual(['0-2999999']);
    const stream = read(0);
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => reading.size).toBe(0);
  });

  it('goes on for a reader when the one that requested its block has left', async () => {
    const { asked, reading, read, load } = startBlocks();
    const first = read(0);
    await once(first, 'readable');
    const second = load(100_000, 400_000);
    first.destroy();
    expect((await second).equals(bytes.subarray(100_000, 400_001))).toBe(true);
    expect(asked).toEqual(['0-2999999']);
    await expect.poll(() => reading.size).toBe(0);
  });

  it('reads what is far behind a request by another, at which the first one ends', async () => {
    const { asked, read, load } = startBlocks();
    const first = read(0);
    await once(first, 'readable');
    const far = await load(2_000_000, 2_000_001);
    expect(far).toEqual(bytes.subarray(2_000_000, 2_000_002));
    expect((await buffer(first)).equals(bytes)).toBe(true);
    expect(asked).toEqual(['0-2999999', '1966080-2031615', '2031616-2999999']);
  });

  it('evicts the least recently used blocks', async () => {
    const { asked, load } = startBlocks({ maxBytes: 2 * 65_536 });
    await load(0, 131_071);
    await load(131_072, 131_073);
    await load(65_536, 65_537);
    expect(asked).toEqual(['0-131071', '131072-196607']);
    await load(0, 10);
    expect(asked.at(-1)).toBe('0-65535');
  });

  it('passes failures on without caching them', async () => {
    const { asked, load } = startBlocks({ cutAt: 600_000 });
    await expect(load(0)).rejects.toThrow('The source failed');
    expect(await load(600_000, 600_001)).toEqual(bytes.subarray(600_000, 600_002));
    await expect(load(700_000, 700_001)).rejects.toThrow('The source failed');
    expect(asked).toEqual(['0-2999999', '655360-720895']);
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
