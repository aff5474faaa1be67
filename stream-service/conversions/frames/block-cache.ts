import { Readable } from 'node:stream';
import { createLruCache } from '../../../core/concurrency/index.ts';
import type { FileSource } from '../../source/index.ts';

/** Small enough that a seek wastes little, large enough that a file needs few requests. */
const BLOCK_BYTES = 512 * 1024;

/** Recently read blocks of files. */
export interface BlockCache {
  /**
   * Wraps a file so that it is read in cached blocks: every encoder of a conversion reads the header of the file, and
   * adjacent segments share a block. Aborting `signal` aborts its reads and evicts its blocks.
   */
  wrap(source: FileSource, signal: AbortSignal): FileSource;
}

/** @param budgetBytes limit over all files, beyond which the least recently used blocks are evicted */
export function createBlockCache(budgetBytes: number): BlockCache {
  const blocks = createLruCache<string, Promise<Buffer>>(Math.max(Math.floor(budgetBytes / BLOCK_BYTES), 1));
  let files = 0;

  const load = (key: string, read: () => Promise<Buffer>): Promise<Buffer> => {
    const cached = blocks.get(key);
    if (cached) return cached;
    const block = read();
    blocks.set(key, block);
    // A failure is not kept: the next caller reads the block again.
    block.catch(() => {
      if (blocks.get(key) === block) blocks.delete(key);
    });
    return block;
  };

  return {
    wrap(source, signal) {
      const { size } = source;
      if (size === undefined) return source; // It can only be read from its beginning.
      const prefix = `${files++}:`;
      const end = Math.ceil(size / BLOCK_BYTES);
      const evict = () => {
        for (const key of [...blocks.keys()]) if (key.startsWith(prefix)) blocks.delete(key);
      };
      signal.addEventListener('abort', evict, { once: true });

      const block = (index: number) =>
        load(prefix + index, async () => {
          const first = index * BLOCK_BYTES;
          const last = Math.min(first + BLOCK_BYTES, size) - 1;
          return Buffer.concat(await source.read(first, last).toArray({ signal }));
        });

      async function* slice(first: number, last: number): AsyncGenerator<Buffer> {
        const start = Math.floor(first / BLOCK_BYTES);
        for (let index = start; index * BLOCK_BYTES <= last; index += 1) {
          const current = block(index);
          // Reading past one block predicts a sequential read: fetch the next block.
          if (index > start && index + 1 < end) void block(index + 1);
          const offset = index * BLOCK_BYTES;
          yield (await current).subarray(Math.max(first - offset, 0), last + 1 - offset);
        }
      }

      return {
        needsRemux: false as const,
        isSeekable: true,
        size,
        validator: source.validator,
        read: (first, last = size - 1) =>
          Readable.from(slice(first, last), { objectMode: false, highWaterMark: 64 * 1024 }),
        close: () => source.close(),
      };
    },
  };
}
