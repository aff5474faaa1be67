import { createSemaphore } from '@reelay/concurrency';
import { box, indexMovie, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import type { ClipLayout } from '@reelay/seekable-media/mp4-clip';
import type { HlsLayout } from '@reelay/seekable-media/mp4-hls';
import { ByteReader, type FragmentSource, MAX_MOOV_BYTES, readFileHeaders } from '@reelay/seekable-media/reading';
import {
  type FileHeaders,
  LAYOUT_VERSION,
  type Layout,
  type LayoutExtras,
  type PackedList,
  type SourceIndex,
} from '@reelay/seekable-media/virtual-mp4';
import type { FileSource, Source } from '@reelay/source';
import { type Name, nameOf } from '@reelay/source/names';
import { parse } from '../../../core/parsing/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { type SizedFile, versionOf } from '../../source/index.ts';
import type { FilePart } from './plan.ts';

/** What is laid out, and how. */
export interface LayoutRequest extends Omit<FilePart, 'of' | 'instead'> {
  readonly of: FilePart['of'] | 'presentation';
  /** Name of the layout, for any version of its sources. */
  readonly id: Name;
  /** Its sources are the tracks. */
  readonly found: KeyedRendition;
  readonly extras?: LayoutExtras;
  /** Of a presentation: the one track that it has. */
  readonly only?: 'vide' | 'soun' | undefined;
}

/** A layout, of a part with its times, of a presentation with its stream. */
export type AnyLayout = Layout & Partial<Pick<ClipLayout, 'startSeconds' | 'endSeconds'> & Pick<HlsLayout, 'stream'>>;

/** A layout, and the files that it was made for. */
export interface KnownLayout {
  readonly layout: AnyLayout;
  /** Of the file: other files, or other versions of them, make another one. */
  readonly name: Name;
  /** Whether a source is still the file of the layout. */
  fits(source: SourceIndex, file: Source): file is SizedFile;
}

/** Opens a file at its beginning. */
export type OpenTrack = (source: SourceIndex, signal: AbortSignal) => Promise<Source>;

/** A file whose headers have been read, still open. */
export interface OpenFile {
  /** Behind the headers. */
  readonly reader: ByteReader<SizedFile>;
  readonly header: FileHeaders;
  /** What a list of segments is by its table, in place of the headers of its file. Absent: they were read. */
  readonly list?: PackedList | undefined;
}

/** For whom a layout is made, and until when. */
export interface LayoutReader {
  /** The client that limits count. @default the service itself */
  readonly client?: string;
  readonly signal: AbortSignal;
}

/** How a layout is made. */
export interface LayoutMaking {
  /**
   * Lays files out, in the order of the tracks.
   * @throws UnsupportedMp4 when they have no layout
   */
  layOut(files: readonly OpenFile[], request: LayoutRequest, reader: LayoutReader): AnyLayout | Promise<AnyLayout>;
  /** Besides the index, the first fragment of a list is read. @default false */
  readonly needsFirstFragment?: boolean;
  /** Besides the index, the headers of a list are read. @default false */
  readonly needsHeaders?: boolean;
}

/** Limits requests whose headers need much memory while a layout is made, up to 64 MB each: one of a client. */
const LARGE_HEADERS = createSemaphore({ permits: 2, maxPerClient: 1 });

/** Limits requests that read the headers of more files than a pair has: those of all are in memory together. */
const MANY_FILES = createSemaphore({ permits: 4, maxPerClient: 1 });
const PAIR = 2;
/** For all files of a layout together: those of a pair are never longer. */
const MAX_HEADERS_BYTES = PAIR * MAX_MOOV_BYTES;
/** About three hours of video. */
const LARGE_MOOV_BYTES = 4 * 1024 * 1024;

const NO_HEADER: FileHeaders = { movie: indexMovie(box('moov')), moovOffset: 0, fileBytes: 0 };

export interface ReadLayoutOptions extends LayoutReader {
  readonly open: OpenTrack;
  /** Receives the readers of the sources, which go on reading behind the headers. @default they are destroyed */
  readonly keep?: ((readers: readonly ByteReader<SizedFile>[]) => void) | undefined;
}

/**
 * Makes a layout from the headers of its sources.
 * @throws UnsupportedMp4 when the files have no layout
 */
export async function readLayout(
  request: LayoutRequest,
  { layOut, needsFirstFragment, needsHeaders }: LayoutMaking,
  { client = '', signal, open, keep }: ReadLayoutOptions,
): Promise<KnownLayout> {
  const { tracks } = request.found;
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const readers: ByteReader<SizedFile>[] = [];
  const end = () => {
    // Files may open out of order: `Object.values` skips the gaps.
    for (const reader of Object.values(readers)) reader.destroy();
  };
  either.addEventListener('abort', end, { once: true });
  const readOne = async (_: unknown, index: number): Promise<OpenFile> => {
    const reader = new ByteReader(requireSizedFile(await open(index, either)));
    readers[index] = reader;
    if (either.aborted) reader.destroy();
    const { fragments, headerBytes } = reader.file;
    if (!needsHeaders && fragments) {
      const firstSamples = needsFirstFragment ? await readFirstSamples(fragments, either) : undefined;
      return { reader, header: NO_HEADER, list: { ...fragments.index, firstSamples } };
    }
    const reading = { parse, client, signal: either, beforeRead, headerBytes, isReadOn: keep !== undefined };
    return { reader, header: await readFileHeaders(reader, reading) };
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
    if (tracks.length > PAIR) many = MANY_FILES.acquire(client, either);
    await many;
    const files = await Promise.all(tracks.map(readOne));
    const layout = await layOut(files, request, { client, signal: either });
    const known = describeLayout(
      layout,
      request,
      readers.map(({ file: { size, validator } }) => ({ size, validator })),
    );
    keep?.(readers.splice(0));
    return known;
  } finally {
    // Closes the files, and ends reading the other one when one has failed.
    ended.abort(new Error('The headers have been read'));
    for (const each of [permit, many]) each?.then(({ release }) => release()).catch(() => undefined);
  }
}

/** Of the first track of a list. */
async function readFirstSamples(fragments: FragmentSource, signal: AbortSignal): Promise<Float64Array | undefined> {
  const { runs, release } = await fragments.open(signal).take({ index: 0 });
  release();
  return runs[0]?.samples.slice();
}

type Entity = Pick<SizedFile, 'size' | 'validator'>;

/** A separate function: a closure in `readLayout` would keep its headers in memory. */
function describeLayout(layout: AnyLayout, request: LayoutRequest, entities: readonly Entity[]): KnownLayout {
  const name = nameOfLayout(layout, request, entities);
  return {
    layout,
    name,
    fits(index, file): file is SizedFile {
      const entity = entities[index];
      return !file.needsRemux && file.size === entity?.size && file.validator === entity?.validator;
    },
  };
}

function nameOfLayout(
  { fingerprint }: Layout,
  { id, found: { resource, tracks } }: LayoutRequest,
  entities: readonly Entity[],
): Name {
  const versions = tracks.map((track, index) => versionOf(resource, track, entities[index]));
  return nameOf(versions, 'layout', [LAYOUT_VERSION, id, fingerprint]);
}

function requireSizedFile(source: Source): SizedFile {
  if (source.needsRemux || source.size === undefined) throw new UnsupportedMp4('Not a file of known size');
  return source as FileSource & { readonly size: number };
}
