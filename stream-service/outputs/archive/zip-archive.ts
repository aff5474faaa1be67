import { crc32 } from 'node:zlib';
import { releaseBuffer } from '../../../core/egress/guard/index.ts';
import {
  centralDirectory,
  createStoredBlocks,
  dataDescriptor,
  localHeader,
  type WrittenZipEntry,
} from '../../../core/media/zip/index.ts';
import { type ArchiveContents, type EntryResult, reasonOf } from './contents.ts';
import { type EntryFeed, isFailed } from './entry-feed.ts';

export interface ZipArchiveOptions extends Pick<ArchiveContents, 'indexFile'> {
  readonly feed: EntryFeed;
  /** Every byte is promised: a failure ends the archive. */
  readonly isExact: boolean;
  /** Reports an entry that failed midway. What it throws ends the archive. */
  readonly onBreak: (number: number, error: unknown) => void;
}

/**
 * The bytes of a ZIP archive. Data of an entry that fails midway stays in the archive without an entry in the central
 * directory, so that no truncated file is extracted; the index names it.
 * @throws when an entry fails and every byte is promised
 */
export async function* zipArchive({ feed, indexFile, isExact, onBreak }: ZipArchiveOptions): AsyncGenerator<Buffer> {
  const directory: WrittenZipEntry[] = [];
  const results: EntryResult[] = [];
  let offset = 0;
  for await (const next of feed) {
    const { number } = next;
    if (isFailed(next)) {
      if (isExact) throw next.error;
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
    // An entry may fail wherever not every byte is promised: then the blocks end with the data.
    const blocks = createStoredBlocks(isExact ? size : undefined);
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
      if (isExact) throw error;
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

  const { text, ...entry } = indexFile(results);
  const content = Buffer.from(text);
  const blocks = createStoredBlocks(content.length);
  const data = [blocks.write(content), blocks.end()];
  const written = { entry, size: content.length, compressedSize: blocks.bytes, crc32: crc32(content) };
  const records = Buffer.concat([localHeader(entry), ...data, dataDescriptor(written)]);
  directory.push({ ...written, offset });
  yield records;
  yield centralDirectory(directory, offset + records.length);
}
