import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from '../../../core/media/tar/index.ts';
import { type ArchiveContents, type EntryResult, type IndexFile, reasonOf } from './contents.ts';
import { type EntryFeed, type EntryJob, isFailed } from './entry-feed.ts';
import type { ArchivePlan, PlannedFile } from './plan.ts';

export interface TarArchiveOptions extends Pick<ArchiveContents, 'indexFile'> {
  readonly feed: EntryFeed;
}

/**
 * The bytes of a TAR archive of unknown length. An entry that fails before its first byte is named in the index.
 * @throws when an entry ends early: its header states its length
 */
export async function* tarArchive({ feed, indexFile }: TarArchiveOptions): AsyncGenerator<Buffer> {
  const results: EntryResult[] = [];
  for await (const entry of feed) {
    const { number } = entry;
    if (isFailed(entry)) {
      results.push({ number, reason: reasonOf(entry.error) });
      continue;
    }
    const { path, modifiedAt, body, size = 0 } = entry;
    try {
      yield tarHeader({ path, size, modifiedAt });
      yield* body as AsyncIterable<Buffer>;
    } finally {
      entry.close();
    }
    yield Buffer.alloc(tarPaddingBytes(size));
    results.push({ number, path });
  }
  yield* indexRecords(indexFile(results));
}

const indexRecords = ({ text, ...file }: IndexFile): Buffer[] => [
  tarHeader(file),
  Buffer.from(text),
  Buffer.alloc(tarPaddingBytes(file.size) + TAR_END_BYTES),
];

/** A run of bytes of a planned archive: those of a file, or the archive's own. */
type Extent = { readonly offset: number; readonly size: number } & (
  | { readonly file: PlannedFile }
  | { readonly bytes: () => Buffer }
);

/** The layout of a planned TAR, from its first byte to its last. */
export function tarExtents({ files, index }: ArchivePlan): Extent[] {
  let offset = 0;
  const place = (size: number) => {
    const at = offset;
    offset += size;
    return { offset: at, size };
  };
  // Bytes are made when they are read, and then belong to the reader.
  const own = (bytes: () => Buffer): Extent => ({ ...place(bytes().length), bytes });
  return [
    ...files.flatMap((file) => [
      own(() => tarHeader(file)),
      { ...place(file.size), file },
      own(() => Buffer.alloc(tarPaddingBytes(file.size))),
    ]),
    own(() => Buffer.concat(indexRecords(index))),
  ];
}

/** What is read of each file for the bytes from `first` to `last`, both included. */
export const tarJobs = (extents: readonly Extent[], first: number, last: number): EntryJob[] =>
  extents.flatMap((extent) => {
    const range = partOf(extent, first, last);
    return 'file' in extent && range ? [{ number: extent.file.number, range }] : [];
  });

/** The bytes of an extent, from its own start, that lie within a range. Undefined: none. */
function partOf({ offset, size }: Extent, first: number, last: number) {
  const part = { first: Math.max(0, first - offset), last: Math.min(size - 1, last - offset) };
  return part.first <= part.last ? part : undefined;
}

/**
 * Bytes of a planned TAR, `first` and `last` included.
 * @param feed of `tarJobs` for the same range
 * @throws when an entry fails: every byte is promised
 */
export async function* plannedTar(
  extents: readonly Extent[],
  { first, last }: { readonly first: number; readonly last: number },
  feed: EntryFeed,
): AsyncGenerator<Buffer> {
  try {
    // Before any byte: the status is chosen when the first entry is open.
    let next = await feed.next();
    for (const extent of extents) {
      const part = partOf(extent, first, last);
      if (!part) continue;
      if ('bytes' in extent) {
        yield extent.bytes().subarray(part.first, part.last + 1);
        continue;
      }
      const { value: entry } = next;
      if (!entry) throw new RangeError(`No job for ${extent.file.path}`);
      if (isFailed(entry)) throw entry.error;
      try {
        yield* entry.body as AsyncIterable<Buffer>;
      } finally {
        entry.close();
      }
      next = await feed.next();
    }
  } finally {
    await feed.return(undefined);
  }
}
