import { createHash } from 'node:crypto';
import { createSemaphore } from '@reelay/concurrency';
import { box, indexMovie, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { LAYOUT_VERSION, type Layout, type LayoutSource, type SourceIndex } from '@reelay/seekable-media/virtual-mp4';
import type { FileSource, Source } from '../../source/index.ts';
import { readFileHeader } from './box-reader.ts';
import { ByteReader, type SizedFile } from './byte-reader.ts';
import { collectFragments } from './collect-fragments.ts';

/** A layout, and the files that it was made for. */
export interface KnownLayout<L extends Layout = Layout> {
  readonly layout: L;
  /** Strong validator of the output, quotes included: other files or another layout version have another one. */
  readonly etag: string;
  /** Whether a source is still the file of the layout. */
  fits(source: SourceIndex, file: Source): file is SizedFile;
}

/** Opens a file at its beginning. It is closed by the caller of this function. */
export type OpenTrack = (source: SourceIndex, signal: AbortSignal) => Promise<Source>;

/** A file whose headers have been read, still open. */
export interface OpenFile {
  readonly file: SizedFile;
  readonly header: LayoutSource;
}

/** What distinguishes one layout from all others of the cache. */
export interface LayoutRequest {
  readonly id: string;
  /** The sources to read: indexes of the layout's tracks. */
  readonly sources: readonly SourceIndex[];
}

/** For whom a layout is made, and until when. */
export interface LayoutReader {
  /** The client that limits count. @default the service itself */
  readonly client?: string;
  readonly signal: AbortSignal;
}

/**
 * Lays files out.
 * @param files in the order of the request's sources
 * @throws UnsupportedMp4 when they have no layout
 */
export type LayOut<Request extends LayoutRequest, L extends Layout> = (
  files: readonly OpenFile[],
  request: Request,
  reader: LayoutReader,
) => L | Promise<L>;

/** Limits requests whose headers need much memory while a layout is made, up to 64 MB each: one of a client. */
const LARGE_HEADERS = createSemaphore({ permits: 2, maxPerClient: 1 });

/** Limits requests that read the headers of more files than a pair has: those of all are in memory together. */
const MANY_FILES = createSemaphore({ permits: 4, maxPerClient: 1 });
const PAIR = 2;

/** How a layout is made. */
export interface LayoutMaking<Request extends LayoutRequest, L extends Layout> {
  readonly open: OpenTrack;
  readonly layOut: LayOut<Request, L>;
  /** Besides the headers, the first fragment of each file is read. @default only where a header may be wrong */
  readonly needsFirstFragment?: boolean | undefined;
  /** @default true */
  readonly needsHeaders?: boolean | undefined;
}

const NO_HEADER: LayoutSource = { movie: indexMovie(box('moov')), moovOffset: 0, fileBytes: 0 };

/**
 * Makes a layout from the headers of its sources.
 * @throws UnsupportedMp4 when the files have no layout
 */
export async function readLayout<Request extends LayoutRequest, L extends Layout>(
  request: Request,
  { open, layOut, needsFirstFragment, needsHeaders = true }: LayoutMaking<Request, L>,
  { client = '', signal }: LayoutReader,
): Promise<KnownLayout<L>> {
  const { sources } = request;
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const readOne = async (index: SourceIndex): Promise<OpenFile> => {
    const source = await open(index, either);
    const close = () => source.close();
    if (either.aborted) close();
    else either.addEventListener('abort', close, { once: true });
    const file = requireSizedFile(source);
    const reading = { client, signal: either, beforeRead, needsFirstFragment };
    return { file, header: needsHeaders ? await readLayoutSource(file, reading) : NO_HEADER };
  };
  let permit: ReturnType<typeof LARGE_HEADERS.acquire> | undefined;
  let headerBytes = 0;
  const beforeRead = async (bytes: number) => {
    headerBytes += bytes;
    if (headerBytes > MAX_HEADERS_BYTES) throw new UnsupportedMp4('The headers of all files are too large');
    if (bytes <= LARGE_MOOV_BYTES) return;
    // One permit for all files of the request: two requests that each wait for a second one would wait forever.
    permit ??= LARGE_HEADERS.acquire(client, either);
    await permit;
  };
  let many: typeof permit;
  try {
    if (sources.length > PAIR) many = MANY_FILES.acquire(client, either);
    await many;
    const files = await Promise.all(sources.map(readOne));
    const layout = await layOut(files, request, { client, signal: either });
    return describeLayout(
      layout,
      request,
      files.map(({ file: { size, validator } }) => ({ size, validator })),
    );
  } finally {
    // Closes the files, and ends reading the other one when one has failed.
    ended.abort(new Error('The headers have been read'));
    for (const each of [permit, many]) each?.then(({ release }) => release()).catch(() => undefined);
  }
}

type Entity = Pick<SizedFile, 'size' | 'validator'>;

/** A function of its own: what it returns is kept, and the variables of the function around a closure with it. */
function describeLayout<L extends Layout>(
  layout: L,
  { id, sources }: LayoutRequest,
  entities: readonly Entity[],
): KnownLayout<L> {
  return {
    layout,
    etag: etagOf(id, entities, layout),
    fits(index, file): file is SizedFile {
      const entity = entities[sources.indexOf(index)];
      return !file.needsRemux && file.size === entity?.size && file.validator === entity?.validator;
    },
  };
}

/** With the headers, because a source without validators is only known by its size. */
function etagOf(id: string, entities: readonly Entity[], { fingerprint }: Layout): string {
  const parts = JSON.stringify([LAYOUT_VERSION, id, entities, fingerprint]);
  return `"${createHash('sha256').update(parts).digest('base64url').slice(0, 22)}"`;
}

function requireSizedFile(source: Source): SizedFile {
  if (source.needsRemux || source.size === undefined) throw new UnsupportedMp4('Not a file of known size');
  return source as FileSource & { readonly size: number };
}

/** Bytes of a read: the `moov` and `sidx` of most fragmented files fit. */
const HEADER_READ_BYTES = 64 * 1024;
/** What reading the headers reads first. */
export const HEADER_RANGE = { first: 0, last: HEADER_READ_BYTES - 1 };
/** A longer `moov` is not read: ten hours of video at 60 frames a second have up to 28 MB. */
const MAX_MOOV_BYTES = 32 * 1024 * 1024;
/** For all files of a layout together: those of a pair are never longer. */
const MAX_HEADERS_BYTES = PAIR * MAX_MOOV_BYTES;
/** About three hours of video. */
const LARGE_MOOV_BYTES = 4 * 1024 * 1024;

export interface HeaderReader extends LayoutReader {
  /** Awaited before a header of so many bytes is read. */
  readonly beforeRead?: (bytes: number) => Promise<void>;
  /** As in `LayoutMaking`. */
  readonly needsFirstFragment?: boolean | undefined;
}

/**
 * Reads the headers of a file: `moov`, and the segment index of a fragmented file.
 * @throws UnsupportedMp4 when the fragments are not all known from them
 */
export async function readLayoutSource(
  source: SizedFile,
  { client, signal, beforeRead, needsFirstFragment = false }: HeaderReader,
): Promise<LayoutSource> {
  // One that is made here is exact, and what follows it costs a request.
  const { length: ownBytes = 0 } = source.header ?? {};
  const reader = new ByteReader(source, (position) => (position < ownBytes ? ownBytes : position + HEADER_READ_BYTES));
  const destroy = () => reader.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  try {
    signal.throwIfAborted();
    const { moov, start, end } = await readFileHeader(reader, {
      maxBytes: MAX_MOOV_BYTES,
      beforeRead: (bytes) => beforeRead?.(bytes),
    });
    const movie = indexMovie(moov);
    const isFragmented = movie.children.some(({ type }) => type === 'mvex');
    const fragments = isFragmented
      ? await collectFragments(
          reader,
          { index: movie, end },
          { client, signal, isExact: ownBytes > 0 && !needsFirstFragment },
        )
      : undefined;
    return { movie, moovOffset: start, fileBytes: reader.size, fragments };
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}
