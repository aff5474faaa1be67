/**
 * Records of a ZIP archive that is written from front to back (PKWARE APPNOTE 6.3.10): the data of entries are stored
 * DEFLATE blocks, and checksum and sizes follow them, because neither is known before.
 */

/** An entry before its data. */
export interface ZipEntry {
  /** Path within the archive, with `/` between folders. */
  readonly path: string;
  /** Bytes; undefined when only the end of the data tells. */
  readonly size: number | undefined;
  /** UTC; ZIP stores two-second steps from 1980 to 2107. */
  readonly modifiedAt: Date;
}

/** An entry whose data has been written. */
export interface WrittenZipEntry {
  readonly entry: ZipEntry;
  /** Bytes of its data. */
  readonly size: number;
  /** Bytes of the blocks with its data. */
  readonly compressedSize: number;
  /** CRC-32 of its data. */
  readonly crc32: number;
  /** Offset of its local header in the archive. */
  readonly offset: number;
}

const LOCAL_HEADER = 0x04034b50;
const DATA_DESCRIPTOR = 0x08074b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
/** Fields of 32 and 16 bits at their maximum refer to a ZIP64 field. */
const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;
const ZIP64_EXTRA = 1;
/** Bit 3: sizes and checksum follow the data. Bit 11: paths are UTF-8. */
const FLAGS = 0x0808;
/** DEFLATE: a reader of the stream finds the end of the data in the data. */
const METHOD = 8;
const VERSION = 20;
const ZIP64_VERSION = 45;
const MADE_BY_UNIX = 3 << 8;
/** A regular file, readable by all and writable by its owner. */
const FILE_MODE = 0o100644;

const LOCAL_HEADER_BYTES = 30;
const LOCAL_ZIP64_BYTES = 20;
const DESCRIPTOR_BYTES = 16;
const DESCRIPTOR_ZIP64_BYTES = 24;
const CENTRAL_HEADER_BYTES = 46;
const END_BYTES = 22;
const ZIP64_END_BYTES = 56;
const ZIP64_LOCATOR_BYTES = 20;

/**
 * Whether the local header announces sizes of 64 bits behind the data. For an entry of unknown size it does not: readers such
 * as Java 17 take them for 32 bits unless the data are longer, and other readers of streams until they are.
 */
const isAnnouncedZip64 = ({ size }: ZipEntry): boolean => size !== undefined && storedBytes(size) > MAX_32;

/** Whether the sizes behind the data have 64 bits. */
const isZip64 = ({ entry, compressedSize }: Pick<WrittenZipEntry, 'entry' | 'compressedSize'>): boolean =>
  isAnnouncedZip64(entry) || compressedSize > MAX_32;

/** The record before the data of an entry (§4.3.7). */
export function localHeader(entry: ZipEntry): Buffer {
  const path = Buffer.from(entry.path);
  const has64Bits = isAnnouncedZip64(entry);
  const header = Buffer.alloc(LOCAL_HEADER_BYTES + path.length + (has64Bits ? LOCAL_ZIP64_BYTES : 0));
  header.writeUInt32LE(LOCAL_HEADER, 0);
  header.writeUInt16LE(has64Bits ? ZIP64_VERSION : VERSION, 4);
  writeCommon(header, 6, entry);
  if (has64Bits) header.fill(0xff, 18, 26);
  header.writeUInt16LE(path.length, 26);
  header.writeUInt16LE(has64Bits ? LOCAL_ZIP64_BYTES : 0, 28);
  path.copy(header, LOCAL_HEADER_BYTES);
  if (has64Bits) {
    header.writeUInt16LE(ZIP64_EXTRA, LOCAL_HEADER_BYTES + path.length);
    // Both sizes, 0 here: they follow the data.
    header.writeUInt16LE(LOCAL_ZIP64_BYTES - 4, LOCAL_HEADER_BYTES + path.length + 2);
  }
  return header;
}

/** Flags, method, time and date: the same in local and central headers. */
function writeCommon(header: Buffer, at: number, { modifiedAt }: ZipEntry): void {
  header.writeUInt16LE(FLAGS, at);
  header.writeUInt16LE(METHOD, at + 2);
  const seconds = modifiedAt.getUTCSeconds() >> 1;
  header.writeUInt16LE((modifiedAt.getUTCHours() << 11) | (modifiedAt.getUTCMinutes() << 5) | seconds, at + 4);
  const year = Math.min(Math.max(modifiedAt.getUTCFullYear() - 1980, 0), 127);
  header.writeUInt16LE((year << 9) | ((modifiedAt.getUTCMonth() + 1) << 5) | modifiedAt.getUTCDate(), at + 6);
}

/** The record behind the data of an entry (§4.3.9). */
export function dataDescriptor(written: Omit<WrittenZipEntry, 'offset'>): Buffer {
  const has64Bits = isZip64(written);
  const descriptor = Buffer.alloc(has64Bits ? DESCRIPTOR_ZIP64_BYTES : DESCRIPTOR_BYTES);
  descriptor.writeUInt32LE(DATA_DESCRIPTOR, 0);
  descriptor.writeUInt32LE(written.crc32, 4);
  for (const [index, size] of [written.compressedSize, written.size].entries()) {
    if (has64Bits) descriptor.writeBigUInt64LE(BigInt(size), 8 + index * 8);
    else descriptor.writeUInt32LE(size, 8 + index * 4);
  }
  return descriptor;
}

/** The central directory with its end records (§4.3.12 to §4.3.16). @param offset of its first byte in the archive */
export function centralDirectory(written: readonly WrittenZipEntry[], offset: number): Buffer {
  const headers = written.map(centralHeader);
  const size = headers.reduce((sum, { length }) => sum + length, 0);
  const needs64Bits = written.length >= MAX_16 || size >= MAX_32 || offset >= MAX_32;
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(written.length, MAX_16), 8);
  end.writeUInt16LE(Math.min(written.length, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(offset, MAX_32), 16);
  return Buffer.concat([...headers, ...(needs64Bits ? zip64End(written.length, size, offset) : []), end]);
}

function centralHeader(written: WrittenZipEntry): Buffer {
  const { entry, size, compressedSize, crc32, offset } = written;
  const path = Buffer.from(entry.path);
  const extra = centralExtra([size, compressedSize, offset]);
  const header = Buffer.alloc(CENTRAL_HEADER_BYTES);
  header.writeUInt32LE(CENTRAL_HEADER, 0);
  const version = isZip64(written) || extra.length > 0 ? ZIP64_VERSION : VERSION;
  header.writeUInt16LE(MADE_BY_UNIX | version, 4);
  header.writeUInt16LE(version, 6);
  writeCommon(header, 8, entry);
  header.writeUInt32LE(crc32, 16);
  header.writeUInt32LE(Math.min(compressedSize, MAX_32), 20);
  header.writeUInt32LE(Math.min(size, MAX_32), 24);
  header.writeUInt16LE(path.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(FILE_MODE * 0x10000, 38);
  header.writeUInt32LE(Math.min(offset, MAX_32), 42);
  return Buffer.concat([header, path, extra]);
}

/** The 64-bit values of the fields that are at their maximum (§4.5.3). @param fields in the order of the extra field */
function centralExtra(fields: readonly number[]): Buffer {
  const values = fields.filter((value) => value >= MAX_32);
  const extra = Buffer.alloc(values.length > 0 ? 4 + values.length * 8 : 0);
  if (extra.length === 0) return extra;
  extra.writeUInt16LE(ZIP64_EXTRA, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + index * 8);
  return extra;
}

function zip64End(count: number, size: number, offset: number): Buffer[] {
  const end = Buffer.alloc(ZIP64_END_BYTES);
  end.writeUInt32LE(ZIP64_END, 0);
  end.writeBigUInt64LE(BigInt(ZIP64_END_BYTES - 12), 4);
  end.writeUInt16LE(MADE_BY_UNIX | ZIP64_VERSION, 12);
  end.writeUInt16LE(ZIP64_VERSION, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(ZIP64_LOCATOR_BYTES);
  locator.writeUInt32LE(ZIP64_LOCATOR, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return [end, locator];
}

/** Bytes of an archive of entries whose sizes are all known. */
export function zipBytes(entries: readonly (ZipEntry & { readonly size: number })[]): number {
  let offset = 0;
  const written = entries.map((entry): WrittenZipEntry => {
    const at = offset;
    const compressedSize = storedBytes(entry.size);
    const has64Bits = isAnnouncedZip64(entry);
    const recordBytes = has64Bits ? LOCAL_ZIP64_BYTES + DESCRIPTOR_ZIP64_BYTES : DESCRIPTOR_BYTES;
    offset += LOCAL_HEADER_BYTES + Buffer.byteLength(entry.path) + compressedSize + recordBytes;
    return { entry, size: entry.size, compressedSize, crc32: 0, offset: at };
  });
  return offset + centralDirectory(written, offset).length;
}

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
