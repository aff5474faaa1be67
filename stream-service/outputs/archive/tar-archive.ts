import { TAR_END_BYTES, type TarEntry, tarHeader, tarPaddingBytes } from '../../../core/media/tar/index.ts';
import type { ArchivePlan, PlannedFile } from './archive-plan.ts';
import { type EntryFeed, type EntryJob, isFailed } from './entry-feed.ts';
import { type EntryResult, reasonOf } from './index-text.ts';

export type IndexFile = TarEntry & { readonly text: string };

export interface TarArchiveOptions {
  readonly feed: EntryFeed;
  /** The last file, by the results of the others. */
  readonly indexFile: (results: readonly EntryResult[]) => IndexFile;
}

/**
 * The bytes of a TAR archive of unknown length. An entry that fails before its first byte is named in the index.
 * @throws when an entry ends early: its header states its length
 */
export async function* tarArchive({ feed, indexFile }: TarArchiveOptions): AsyncGenerator<Buffer> {
  const results: EntryResult[] = [];
  for (let next = await feed.next(); next; next = await feed.next()) {
    if (isFailed(next)) {
      results.push({ index: next.index, reason: reasonOf(next.error) });
      continue;
    }
    const { path, modifiedAt, body, head } = next;
    const size = head.size ?? 0;
    try {
      yield tarHeader({ path, size, modifiedAt });
      yield* body as AsyncIterable<Buffer>;
    } finally {
      next.close();
    }
    yield Buffer.alloc(tarPaddingBytes(size));
    results.push({ index: next.index, path });
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
export function tarExtents(plan: ArchivePlan, index: IndexFile): Extent[] {
  let offset = 0;
  const place = (size: number) => {
    const at = offset;
    offset += size;
    return { offset: at, size };
  };
  // Bytes are made when they are read, and then belong to the reader.
  const own = (bytes: () => Buffer): Extent => ({ ...place(bytes().length), bytes });
  return [
    ...plan.files.flatMap((file) => [
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
    const part = partOf(extent, first, last);
    return 'file' in extent && part ? [{ index: extent.file.index, range: part }] : [];
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
  // Before any byte: the status is chosen when the first entry is open.
  let next = await feed.next();
  for (const extent of extents) {
    const part = partOf(extent, first, last);
    if (!part) continue;
    if ('bytes' in extent) {
      yield extent.bytes().subarray(part.first, part.last + 1);
      continue;
    }
    if (!next) throw new RangeError(`No job for ${extent.file.path}`);
    if (isFailed(next)) throw next.error;
    try {
      yield* next.body as AsyncIterable<Buffer>;
    } finally {
      next.close();
    }
    next = await feed.next();
  }
}
