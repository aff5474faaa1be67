/**
 * DEFLATE without compression: blocks that state their length (RFC 1951 §3.2.4), with an empty one at the end. Unlike stored data
 * of a ZIP archive, which end wherever a reader of the stream sees the signature of the next record, they cannot contain records.
 */

const HEADER_BYTES = 5;
/** Data of a block. */
export const MAX_BLOCK_BYTES = 65_535;
/** A block with its header. */
export const STORED_BLOCK_BYTES = HEADER_BYTES + MAX_BLOCK_BYTES;

/** Bytes of the blocks for data of a size. */
export const storedBytes = (size: number): number => size + HEADER_BYTES * (Math.ceil(size / MAX_BLOCK_BYTES) + 1);

/** Writes data as blocks. */
interface StoredBlocks {
  /** Bytes of all blocks so far. */
  readonly bytes: number;
  /**
   * A chunk of the data with the headers of blocks before and within it, as one copy: more and smaller buffers take longer to
   * send than one takes to copy.
   */
  write(chunk: Buffer): Buffer;
  /** The last block. @throws RangeError when the data are shorter than their size */
  end(): Buffer;
}

/**
 * @param size of all data: the blocks depend on it alone, and take `storedBytes`. Without it, each chunk has blocks of its own,
 * so that the data may end after any chunk.
 */
export function createStoredBlocks(size: number | undefined): StoredBlocks {
  let bytes = 0;
  let left = size ?? Number.POSITIVE_INFINITY;
  let leftInBlock = 0;

  return {
    get bytes() {
      return bytes;
    },
    write(chunk) {
      if (chunk.length > left) throw new RangeError('The data are longer than their size');
      const parts: Buffer[] = [];
      for (let at = 0; at < chunk.length; ) {
        if (leftInBlock === 0) {
          leftInBlock = Math.min(size === undefined ? chunk.length - at : left, MAX_BLOCK_BYTES);
          parts.push(blockHeader(leftInBlock));
        }
        const part = chunk.subarray(at, at + leftInBlock);
        parts.push(part);
        at += part.length;
        leftInBlock -= part.length;
        left -= part.length;
      }
      const written = joinUnpooled(parts);
      bytes += written.length;
      return written;
    },
    end() {
      if (leftInBlock > 0 || (size !== undefined && left > 0))
        throw new RangeError('The data are shorter than their size');
      bytes += HEADER_BYTES;
      return blockHeader(0, true);
    },
  };
}

/** Three bits (the last block, and type 0), padding to a byte, the length, and its complement. */
function blockHeader(length: number, isLast = false): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(isLast ? 1 : 0, 0);
  header.writeUInt16LE(length, 1);
  header.writeUInt16LE(length ^ 0xffff, 3);
  return header;
}

/** The parts in memory of their own, which whoever sends them may release. */
function joinUnpooled(parts: readonly Buffer[]): Buffer {
  const joined = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
