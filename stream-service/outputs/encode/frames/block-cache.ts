import { addAbortSignal, Readable } from 'node:stream';
import { createCache } from '@reelay/concurrency';
import type { FileSource } from '../../../source/index.ts';

/** Small enough that a seek wastes little. Adjacent blocks are read by one request. */
const BLOCK_BYTES = 64 * 1024;

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
  const blocks = createCache<string, Promise<Buffer>>({
    maxEntries: Math.max(Math.floor(budgetBytes / BLOCK_BYTES), 1),
  });
  let files = 0;

  const add = (key: string, block: Promise<Buffer>) => {
    blocks.set(key, block);
    // A failure is not kept: the next caller reads the block again.
    block.catch(() => {
      if (blocks.get(key) === block) blocks.delete(key);
    });
  };

  return {
    wrap(source, signal) {
      const { size } = source;
      if (size === undefined) return source; // It can only be read from its beginning.
      const prefix = `${files++}:`;
      const evict = () => {
        for (const key of [...blocks.keys()]) if (key.startsWith(prefix)) blocks.delete(key);
      };
      signal.addEventListener('abort', evict, { once: true });

      /** The blocks from one index to another, both included. Those that are missing are read, adjacent ones at once. */
      const load = (from: number, to: number): Promise<Buffer>[] => {
        const wanted = Array.from({ length: to - from + 1 }, (_, at) => blocks.get(prefix + (from + at)));
        for (let at = 0; at < wanted.length; at += 1) {
          if (wanted[at]) continue;
          const cached = wanted.findIndex((block, index) => index > at && block);
          const count = (cached < 0 ? wanted.length : cached) - at;
          const first = (from + at) * BLOCK_BYTES;
          const last = Math.min(first + count * BLOCK_BYTES, size) - 1;
          for (const [index, block] of readBlocks(source.read(first, last), count, signal).entries()) {
            wanted[at + index] = block;
            add(prefix + (from + at + index), block);
          }
        }
        return wanted.flatMap((block) => block ?? []);
      };

      async function* slice(first: number, last: number): AsyncGenerator<Buffer> {
        let offset = Math.floor(first / BLOCK_BYTES) * BLOCK_BYTES;
        for (const block of load(Math.floor(first / BLOCK_BYTES), Math.floor(last / BLOCK_BYTES))) {
          yield (await block).subarray(Math.max(first - offset, 0), last + 1 - offset);
          offset += BLOCK_BYTES;
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

/** Divides a stream into blocks. Each settles when its bytes have arrived, or when the stream fails before. */
function readBlocks(stream: Readable, count: number, signal: AbortSignal): Promise<Buffer>[] {
  const blocks = Array.from({ length: count }, () => Promise.withResolvers<Buffer>());
  const read = async () => {
    let parts: Buffer[] = [];
    let bytes = 0;
    let next = 0;
    const finish = () => {
      blocks[next]?.resolve(Buffer.concat(parts));
      next += 1;
      parts = [];
      bytes = 0;
    };
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + BLOCK_BYTES - bytes);
        parts.push(part);
        bytes += part.length;
        at += part.length;
        if (bytes === BLOCK_BYTES) finish();
      }
    }
    if (bytes > 0) finish();
  };
  read().catch((error: unknown) => {
    for (const block of blocks) block.reject(error);
  });
  return blocks.map(({ promise }) => promise);
}
