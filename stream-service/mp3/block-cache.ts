import { Readable } from 'node:stream';
import type { FileSource } from '../source/index.ts';

/** Small enough that a seek reads little in vain, large enough that a file is read in few requests. */
const BLOCK_BYTES = 512 * 1024;

/** Recently read blocks of files. */
export interface BlockCache {
  /**
   * The same file, read in whole blocks that are kept for a while: every encoder of a conversion reads the header of
   * the file again, and the end of one segment's sound lies next to the start of another's. Aborting `signal` ends what
   * is under way and forgets the blocks.
   */
  wrap(source: FileSource, signal: AbortSignal): FileSource;
}

/** @param budgetBytes what all files together may hold; what has not been used for longest goes first */
export function createBlockCache(budgetBytes: number): BlockCache {
  /** In the order of their last use. */
  const blocks = new Map<string, Promise<Buffer>>();
  const capacity = Math.max(Math.floor(budgetBytes / BLOCK_BYTES), 1);
  let files = 0;

  const load = (key: string, read: () => Promise<Buffer>): Promise<Buffer> => {
    const block = blocks.get(key) ?? read();
    blocks.delete(key);
    blocks.set(key, block);
    block.catch(() => {
      if (blocks.get(key) === block) blocks.delete(key); // A failure is told, not kept: the next one tries again.
    });
    for (const [oldest] of blocks) {
      if (blocks.size <= capacity) break;
      blocks.delete(oldest);
    }
    return block;
  };

  return {
    wrap(source, signal) {
      const { size } = source;
      if (size === undefined) return source; // Nothing but its beginning can be asked for.
      const prefix = `${files++}:`;
      const end = Math.ceil(size / BLOCK_BYTES);
      const forget = () => {
        for (const key of blocks.keys()) if (key.startsWith(prefix)) blocks.delete(key);
      };
      signal.addEventListener('abort', forget, { once: true });

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
          // Whoever reads on past one block will want the next one too.
          if (index > start && index + 1 < end) void block(index + 1);
          const offset = index * BLOCK_BYTES;
          yield (await current).subarray(Math.max(first - offset, 0), last + 1 - offset);
        }
      }

      return {
        kind: 'file' as const,
        size,
        validator: source.validator,
        read: (first, last = size - 1) =>
          Readable.from(slice(first, last), { objectMode: false, highWaterMark: 64 * 1024 }),
        close: () => source.close(),
      };
    },
  };
}
