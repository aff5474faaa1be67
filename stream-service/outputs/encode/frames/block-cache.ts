import { generatedStream } from '@reelay/guarded-fetch';
import { ByteReader } from '@reelay/seekable-media/reading';
import { type Name, nameOf } from '@reelay/source/names';
import type { SizedFile } from '../../../source/index.ts';
import type { AdvanceExtent, ComputedExtents } from '../../computed-extents.ts';

/** Small enough that a seek wastes little. */
const BLOCK_BYTES = 64 * 1024;
/** Waiting for as many blocks of a request that is in progress costs less than another request. */
const MAX_WAITED_BLOCKS = 8;

/** Adjacent blocks that are read by one request, as far as its readers need them. */
interface SharedRead {
  readonly reader: ByteReader;
  /** Those that have not left: without any, the request is ended. */
  readonly users: Set<object>;
  /** The block that is read next. */
  nextBlock: number;
  /** The one behind the last. */
  endBlock: number;
}

let files = 0;

/**
 * A file that is read in blocks, which are kept until a signal aborts: every encoder of a conversion reads the header of the file, and
 * adjacent segments share a block. Readers side by side share requests: each block is requested once.
 */
export function withBlocks(
  file: SizedFile,
  extents: ComputedExtents,
  signal: AbortSignal,
  onRead?: (first: number, bytes: Buffer) => void,
): SizedFile {
  const { size } = file;
  const number = files++;
  const names = new Set<Name>();
  const nameOfBlock = (block: number) => nameOf([], 'block', [number, block]);
  const requests = new Set<SharedRead>();
  signal.addEventListener('abort', () => extents.evict(names), { once: true });

  const requestOf = (block: number) =>
    requests.values().find((each) => each.nextBlock <= block && block < each.endBlock);
  const request = (user: object, nextBlock: number, endBlock: number): SharedRead => {
    const reader = new ByteReader(file, () => Math.min(made.endBlock * BLOCK_BYTES, size));
    const made: SharedRead = { reader, users: new Set([user]), nextBlock, endBlock };
    requests.add(made);
    return made;
  };
  const end = (ended: SharedRead) => {
    requests.delete(ended);
    ended.reader.destroy();
  };
  const leave = (user: object) => {
    for (const each of requests) if (each.users.delete(user) && each.users.size === 0) end(each);
  };

  /** Requests the first blocks of a range as far as they are neither there nor requested, once the first of them is read. */
  const requestMissing = (user: object, from: number, to: number) => {
    let behind = from;
    while (behind <= to && !extents.complete(nameOfBlock(behind)) && !requestOf(behind)) behind += 1;
    if (behind > from) request(user, from, behind);
  };
  /** The request that a block is read by, which goes on as long as the user. */
  const join = (user: object, block: number, to: number): SharedRead => {
    if (!requestOf(block)) requestMissing(user, block, to);
    const known = requestOf(block) ?? request(user, block, block + 1);
    if (block - known.nextBlock <= MAX_WAITED_BLOCKS) {
      known.users.add(user);
      return known;
    }
    const rest = request(user, block, Math.min(known.endBlock, to + 1));
    known.endBlock = block;
    return rest;
  };
  const load = (from: SharedRead, block: number, until: AbortSignal): Promise<Buffer> => {
    const start = block * BLOCK_BYTES;
    const advance: AdvanceExtent = async (extent, shared) => {
      while (from.nextBlock < block) await load(from, from.nextBlock, shared);
      await extent.appendFrom(from.reader, start + extent.filled, extent.missingBytes, onRead).catch((error) => {
        // Later readers send another request.
        end(from);
        throw error;
      });
      if (extent.missingBytes > 0) return;
      from.nextBlock = block + 1;
      if (from.nextBlock >= from.endBlock) end(from);
    };
    names.add(nameOfBlock(block));
    return extents.whole(nameOfBlock(block), Math.min(BLOCK_BYTES, size - start), advance, until);
  };

  async function* read(first: number, last: number, until: AbortSignal): AsyncGenerator<Buffer> {
    const user = {};
    const to = Math.floor(last / BLOCK_BYTES);
    try {
      requestMissing(user, Math.floor(first / BLOCK_BYTES), to);
      for (let at = first; at <= last; ) {
        const block = Math.floor(at / BLOCK_BYTES);
        const start = block * BLOCK_BYTES;
        const bytes = extents.complete(nameOfBlock(block)) ?? (await load(join(user, block, to), block, until));
        const chunk = Buffer.from(bytes.subarray(at - start, last + 1 - start));
        at += chunk.length;
        yield chunk;
      }
    } finally {
      leave(user);
    }
  }

  return {
    ...file,
    read(first, last = size - 1) {
      const ended = new AbortController();
      const until = AbortSignal.any([signal, ended.signal]);
      return generatedStream(read(first, last, until), () => ended.abort(new Error('Reading ended')));
    },
  };
}
