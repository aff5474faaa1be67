import { crc32 } from 'node:zlib';
import { releaseBuffer } from '@reelay/guarded-fetch';
import type { ByteRange } from '@reelay/seekable-media/http';
import {
  centralDirectory,
  createStoredBlocks,
  dataDescriptor,
  localHeader,
  MAX_BLOCK_BYTES,
  STORED_BLOCK_BYTES,
  storedBytes,
  type WrittenZipEntry,
} from '@reelay/seekable-media/zip';
import { type ArchiveContents, type EntryResult, reasonOf } from './entries.ts';
import { type EntryFeed, type EntryJob, isFailed } from './entry-feed.ts';
import type { ArchivePlan, PlannedFile } from './plan.ts';

export interface ZipArchiveOptions extends Pick<ArchiveContents, 'indexFile'> {
  readonly feed: EntryFeed;
  /** Reports an entry that failed midway. What it throws ends the archive. */
  readonly onBreak: (number: number, error: unknown) => void;
}

/**
 * The bytes of a ZIP archive of unknown length. Data of an entry that fails midway stays in the archive without an entry in
 * the central directory, so that no truncated file is extracted; the index names it.
 */
export async function* zipArchive({ feed, indexFile, onBreak }: ZipArchiveOptions): AsyncGenerator<Buffer> {
  const directory: WrittenZipEntry[] = [];
  const results: EntryResult[] = [];
  let offset = 0;
  for await (const next of feed) {
    const { number } = next;
    if (isFailed(next)) {
      results.push({ number, reason: reasonOf(next.error) });
      continue;
    }
    const { path, size, modifiedAt } = next;
    const entry = { path, size, modifiedAt };
    const header = localHeader(entry);
    const start = offset;
    offset += header.length;
    yield header;
    const data = { size: 0, crc32: 0 };
    // An entry may fail anywhere: the blocks end with the data.
    const blocks = createStoredBlocks(undefined);
    let failure: { readonly error: unknown } | undefined;
    try {
      for await (const chunk of next.body as AsyncIterable<Buffer>) {
        data.crc32 = crc32(chunk, data.crc32);
        data.size += chunk.length;
        const part = blocks.write(chunk);
        releaseBuffer(chunk);
        yield part;
      }
    } catch (error) {
      onBreak(number, error);
      failure = { error };
    } finally {
      next.close();
    }
    const last = blocks.end();
    const written = { entry, ...data, compressedSize: blocks.bytes };
    const descriptor = dataDescriptor(written);
    offset += blocks.bytes + descriptor.length;
    yield Buffer.concat([last, descriptor]);
    if (failure) {
      results.push({ number, reason: `Failed after ${data.size} bytes. ${reasonOf(failure.error)}` });
    } else {
      directory.push({ ...written, offset: start });
      results.push({ number, path });
    }
  }

  const index = indexFile(results);
  const { written, records } = indexRecords(index);
  directory.push({ ...written, offset });
  yield records;
  yield centralDirectory(directory, offset + records.length);
}

function indexRecords({ text, ...entry }: ArchivePlan['index']) {
  const content = Buffer.from(text);
  const blocks = createStoredBlocks(content.length);
  const data = [blocks.write(content), blocks.end()];
  const written = { entry, size: content.length, compressedSize: blocks.bytes, crc32: crc32(content) };
  return { written, records: Buffer.concat([localHeader(entry), ...data, dataDescriptor(written)]) };
}

/** The CRC-32 of a file, which is known once it has been read. */
type ChecksumOf = (file: PlannedFile) => Promise<number>;

/** A run of bytes of a planned archive: the data of a file, or records. */
type ZipExtent = { readonly offset: number; readonly size: number } & (
  | { readonly file: PlannedFile }
  | {
      /** The files whose checksums are in the records. */
      readonly checks: readonly PlannedFile[];
      readonly write: (checksumOf: ChecksumOf) => Buffer | Promise<Buffer>;
    }
);

/** The layout of a planned archive, from its first byte to its last. */
export function zipExtents({
  files,
  index,
  size,
}: Pick<ArchivePlan, 'files' | 'index' | 'size'>): readonly ZipExtent[] {
  const extents: ZipExtent[] = [];
  const offsets = new Map<PlannedFile, number>();
  let offset = 0;
  const place = (bytes: number) => {
    const at = { offset, size: bytes };
    offset += bytes;
    return at;
  };
  const describe = (file: PlannedFile, checksum: number) => ({
    entry: file,
    size: file.size,
    compressedSize: storedBytes(file.size),
    crc32: checksum,
  });
  for (const file of files) {
    offsets.set(file, offset);
    extents.push({ ...place(localHeader(file).length), checks: [], write: () => localHeader(file) });
    extents.push({ ...place(storedBytes(file.size)), file });
    extents.push({
      ...place(dataDescriptor(describe(file, 0)).length),
      checks: [file],
      write: async (checksumOf) => dataDescriptor(describe(file, await checksumOf(file))),
    });
  }
  const { written, records } = indexRecords(index);
  const last = { ...written, offset };
  extents.push({ ...place(records.length), checks: [], write: () => records });
  const directoryOffset = offset;
  extents.push({
    ...place(size - offset),
    checks: files,
    async write(checksumOf) {
      const entries: WrittenZipEntry[] = [];
      for (const file of files)
        entries.push({ ...describe(file, await checksumOf(file)), offset: offsets.get(file) ?? 0 });
      return centralDirectory([...entries, last], directoryOffset);
    },
  });
  return extents;
}

/** The bytes of an extent, from its own start, that lie within a range. Undefined: none. */
function partOf({ offset, size }: ZipExtent, { first, last }: ByteRange): ByteRange | undefined {
  const part = { first: Math.max(0, first - offset), last: Math.min(size - 1, last - offset) };
  return part.first <= part.last ? part : undefined;
}

/** The block of a file that a byte of its blocks belongs to, and begins with data. */
function blockOf({ size }: PlannedFile, at: number): number {
  const lastBlock = Math.max(0, Math.ceil(size / MAX_BLOCK_BYTES) - 1);
  return Math.min(Math.floor(at / STORED_BLOCK_BYTES), lastBlock);
}

/** What is read of each file for a range of the archive: whole blocks. */
export const zipJobs = (extents: readonly ZipExtent[], range: ByteRange): EntryJob[] =>
  extents.flatMap((extent) => {
    const part = 'file' in extent && partOf(extent, range);
    if (!part) return [];
    const { file } = extent;
    const last = (blockOf(file, part.last) + 1) * MAX_BLOCK_BYTES - 1;
    const first = blockOf(file, part.first) * MAX_BLOCK_BYTES;
    return [{ number: file.number, range: last < file.size - 1 ? { first, last } : { first } }];
  });

/** The files whose checksums a range of the archive has although it does not have all of their data. */
export function uncheckedFiles(extents: readonly ZipExtent[], range: ByteRange): readonly PlannedFile[] {
  const wanted = new Set<PlannedFile>();
  const whole = new Set<PlannedFile>();
  for (const extent of extents) {
    const part = partOf(extent, range);
    if (!part) continue;
    if ('checks' in extent) for (const file of extent.checks) wanted.add(file);
    else if (blockOf(extent.file, part.first) === 0) whole.add(extent.file);
  }
  return [...wanted].filter((file) => !whole.has(file));
}

export interface PlannedZipOptions {
  readonly extents: readonly ZipExtent[];
  readonly range: ByteRange;
  /** Of `zipJobs` for the same range. */
  readonly feed: EntryFeed;
  /** By the numbers of files. Those of files that are sent from their beginning are added. */
  readonly checksums: Map<number, number>;
  /** Waits for the checksum of a file that is not sent from its beginning. */
  readonly checksumOf: ChecksumOf;
}

/**
 * Bytes of a ZIP archive of known length.
 * @throws when an entry fails: every byte is promised
 */
export async function* plannedZip(options: PlannedZipOptions): AsyncGenerator<Buffer> {
  const { extents, range, feed, checksums } = options;
  const checksumOf: ChecksumOf = async (file) => checksums.get(file.number) ?? options.checksumOf(file);
  try {
    // Before any byte: the status is chosen when the first entry is open.
    let next = await feed.next();
    for (const extent of extents) {
      const part = partOf(extent, range);
      if (!part) continue;
      if ('write' in extent) {
        const records = await extent.write(checksumOf);
        yield records.subarray(part.first, part.last + 1);
        continue;
      }
      const { value: entry } = next;
      if (!entry) throw new RangeError(`No job for ${extent.file.path}`);
      if (isFailed(entry)) throw entry.error;
      try {
        yield* fileBlocks(extent.file, entry.body, part, checksums);
      } finally {
        entry.close();
      }
      next = await feed.next();
    }
  } finally {
    await feed.return(undefined);
  }
}

async function* fileBlocks(
  file: PlannedFile,
  body: AsyncIterable<Buffer>,
  part: ByteRange,
  checksums: Map<number, number>,
): AsyncGenerator<Buffer> {
  const firstBlock = blockOf(file, part.first);
  const blocks = createStoredBlocks(file.size - firstBlock * MAX_BLOCK_BYTES);
  let offset = firstBlock * STORED_BLOCK_BYTES;
  const within = (bytes: Buffer) => {
    const start = offset;
    offset += bytes.length;
    return bytes.subarray(Math.max(0, part.first - start), Math.max(0, part.last + 1 - start));
  };
  let checksum = 0;
  for await (const chunk of body) {
    if (firstBlock === 0) checksum = crc32(chunk, checksum);
    const written = blocks.write(chunk);
    releaseBuffer(chunk);
    yield within(written);
  }
  if (part.last < offset) return;
  yield within(blocks.end());
  if (firstBlock === 0) checksums.set(file.number, checksum);
}

/** Reads files for their checksums alone, one after another. @returns what waits for that of one */
export function readChecksums(
  files: readonly PlannedFile[],
  feed: EntryFeed,
  checksums: Map<number, number>,
): ChecksumOf {
  const found = new Map(files.map(({ number }) => [number, Promise.withResolvers<number>()]));
  for (const { promise } of found.values()) promise.catch(() => undefined);
  const read = async () => {
    for await (const entry of feed) {
      if (isFailed(entry)) throw entry.error;
      let checksum = 0;
      try {
        for await (const chunk of entry.body as AsyncIterable<Buffer>) {
          checksum = crc32(chunk, checksum);
          releaseBuffer(chunk);
        }
      } finally {
        entry.close();
      }
      checksums.set(entry.number, checksum);
      found.get(entry.number)?.resolve(checksum);
    }
    throw new RangeError('The file has not been read');
  };
  read().catch((error: unknown) => {
    for (const { reject } of found.values()) reject(error);
  });
  return ({ number }) => found.get(number)?.promise ?? Promise.reject(new RangeError(`No checksum of file ${number}`));
}
