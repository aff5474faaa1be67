import { fileType } from '../codecs.ts';
import { UnsupportedMp4 } from '../isobmff/index.ts';
import { layOutClipSources, packMoofs, parseFileTracks, selectFragments } from '../mp4-clip/index.ts';
import type { Parsing } from '../tasks/index.ts';
import { digestOf } from '../values.ts';
import {
  createLayout,
  type FileHeaders,
  LAYOUT_VERSION,
  type Layout,
  listKinds,
  packSource,
  unpackSource,
} from '../virtual-mp4/index.ts';
import { ByteReader, type ByteSource } from './byte-reader.ts';
import { readFileHeaders } from './file-headers.ts';
import { type LayoutReadOptions, readLayoutBytes } from './layout-bytes.ts';
import { readMovieFragments } from './movie-fragments.ts';
import type { FragmentSource } from './subsegments.ts';

/** The bytes of a file, in Web standards. */
export interface Source {
  /** Bytes, exact. */
  readonly size: number;
  /** Names its bytes, among those of all sources, for entity tags. @default unknown: what is made of it has another one each time */
  readonly version?: string;
  /** Reads from `start` to `end`, which is excluded. The stream has exactly these bytes, or fails. */
  read(start: number, end: number): ReadableStream<Uint8Array>;
}

/** A file whose size and every byte are known before its media is read. */
export interface VirtualFile extends Source {
  readonly version: string;
  /** Strong entity tag, with its quotes: other sources, or other versions of them, make another one. */
  readonly etag: string;
  /** Its media type. */
  readonly type: string;
  /** Absent: not known. */
  readonly durationSeconds: number | undefined;
  /** The same as `read` for servers: chunks that belong to the reader. Offsets, both included. @param signal ends what is waited for */
  chunks(first: number, last: number, signal: AbortSignal): AsyncGenerator<Buffer>;
}

const isList = (source: Source | FragmentSource): source is FragmentSource => 'open' in source;

const toByteSource = (source: Source): ByteSource => ({
  size: source.size,
  read: (first, last = source.size - 1) => source.read(first, last + 1),
});

/** Reads the headers of a file, and closes its stream when they are read, or the signal ends. */
async function readHeaders(source: Source, parsing: Parsing & { readonly signal: AbortSignal }): Promise<FileHeaders> {
  const { signal } = parsing;
  signal.throwIfAborted();
  const reader = new ByteReader(toByteSource(source));
  const destroy = () => reader.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  try {
    return await readFileHeaders(reader, parsing);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}

/** The media type of an MP4 file with tracks of these kinds. */
const typeOf = (kinds: readonly string[]): string => fileType('mp4', kinds.includes('vide')).mimeType;

/**
 * One MP4 of the video of the first source and the audio of the others; of a list of segments, all that it has. Reads their headers.
 * @throws UnsupportedMp4 when its bytes cannot be known from them
 */
export async function join(sources: readonly (Source | FragmentSource)[], options: Parsing = {}): Promise<VirtualFile> {
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(options.signal ? [options.signal] : [])]);
  const headers = await Promise.all(
    sources.map((source) =>
      isList(source) ? unpackSource(source.index) : readHeaders(source, { ...options, signal }),
    ),
  ).catch((error) => {
    failed.abort(error);
    throw error;
  });
  const type = typeOf(headers.flatMap(listKinds));
  return toFile(createLayout(headers), { sources, type, parsing: options });
}

/**
 * A part of an MP4 file, which begins and ends exactly at the times: what is decoded before is hidden by an edit list.
 * @param endSeconds infinite: to the end
 * @throws UnsupportedMp4 when there is no such part
 */
export async function clip(
  source: Source,
  startSeconds: number,
  endSeconds: number,
  options: Parsing = {},
): Promise<VirtualFile> {
  const { signal = new AbortController().signal } = options;
  const file = toByteSource(source);
  const times = { startSeconds, endSeconds };
  const header = await readHeaders(source, { ...options, signal });
  const kinds = ['vide', 'soun'] as const;
  const tracks = parseFileTracks(header, kinds);
  const entries = header.fragments && selectFragments(header.fragments, tracks, { ...times, fileBytes: source.size });
  const fragments = entries && packMoofs(await readMovieFragments(file, entries, { files: 1, signal }));
  const layout = layOutClipSources([{ header: packSource(header), kinds, fragments }], times, {});
  // Of a list that is a file as well, its bytes are read.
  const { size, version } = source;
  const bytes: Source = { size, version, read: (start, end) => source.read(start, end) };
  return toFile(layout, { sources: [bytes], type: typeOf(listKinds(header)), parsing: options });
}

/** By Web standards, also where a page is not a secure context. */
const randomName = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');

interface ReadFrom {
  readonly sources: readonly (Source | FragmentSource)[];
  readonly type: string;
  readonly parsing: Parsing;
}

function toFile(layout: Layout, { sources, type, parsing }: ReadFrom): VirtualFile {
  const versions = sources.map((source) =>
    isList(source) ? source.version : [source.size, source.version ?? randomName()],
  );
  return createVirtualFile({
    ...parsing,
    layout,
    type,
    version: digestOf([LAYOUT_VERSION, layout.fingerprint, versions]),
    lists: sources.map((source) => (isList(source) ? source : undefined)),
    async openSource(index) {
      const source = sources[index];
      if (!source || isList(source)) throw new UnsupportedMp4('A list of segments has no bytes of its own');
      return new ByteReader(toByteSource(source));
    },
  });
}

export interface VirtualFileOptions extends Omit<LayoutReadOptions, 'first' | 'last' | 'signal'> {
  /** Names the layout, and its sources in their versions. */
  readonly version: string;
  /** @default MP4 with video */
  readonly type?: string;
}

/** The file that a layout describes. */
export function createVirtualFile({
  version,
  type = fileType('mp4', true).mimeType,
  ...options
}: VirtualFileOptions): VirtualFile {
  const { size, durationSeconds } = options.layout;
  const chunks: VirtualFile['chunks'] = (first, last, signal) => readLayoutBytes({ ...options, first, last, signal });
  return {
    size,
    durationSeconds,
    version,
    etag: `"${version}"`,
    type,
    chunks,
    read(start, end) {
      if (!(start >= 0 && start <= end && end <= size)) throw new RangeError(`No bytes ${start} to ${end} of ${size}`);
      const ended = new AbortController();
      const reading = start < end ? chunks(start, end - 1, ended.signal) : undefined;
      return new ReadableStream({
        async pull(controller) {
          try {
            const next = await reading?.next();
            if (next && !next.done) return controller.enqueue(next.value);
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          // Sources may be open beyond the range.
          ended.abort();
        },
        async cancel(reason) {
          ended.abort(reason);
          await reading?.return(undefined).catch(() => undefined);
        },
      });
    },
  };
}

/**
 * A file on a server that answers ranges. Asks for its first byte to know its size. Other versions of the file are told by `ETag` or
 * `Last-Modified`: a server of another origin has to expose them to browsers, and `Content-Range`.
 * @throws TypeError for a server that does not answer ranges
 */
export async function urlSource(url: string | URL, { fetch = globalThis.fetch } = {}): Promise<Source> {
  const open = async (start: number, end: number, signal?: AbortSignal) => {
    // Without `If-Range`: browsers ask another origin for permission to send it.
    const { status, headers, body } = await fetch(url, { headers: { range: `bytes=${start}-${end - 1}` }, signal });
    const sent = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
    const [first, last, size = 0] = sent.slice(1).map(Number);
    const validator = headers.get('etag') ?? headers.get('last-modified');
    // Validators are of their URL alone (RFC 9110 §8.8.1): files that were written together have the same date.
    const version = validator ? `${url} ${validator}` : undefined;
    // Some servers send all of the file for `bytes=0-0`.
    if (status === 206 && body && first === start && Number(last) >= end - 1) return { size, version, body };
    await body?.cancel();
    throw new TypeError(`${url} cannot be read by ranges: it answers ${status}`);
  };
  const { size, version, body } = await open(0, 1);
  await body.cancel();
  return {
    size,
    version,
    read(start, end) {
      const ended = new AbortController();
      let left = end - start;
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      const openSame = async () => {
        const found = await open(start, end, ended.signal);
        if (found.size === size && found.version === version) return found.body.getReader();
        await found.body.cancel();
        throw new TypeError(`${url} has changed`);
      };
      return new ReadableStream({
        async pull(controller) {
          if (left > 0) {
            reader ??= await openSame();
            const { value } = await reader.read();
            if (!value) throw new TypeError(`${url} ended early`);
            controller.enqueue(value.subarray(0, left));
            left -= Math.min(left, value.length);
          }
          if (left > 0) return;
          controller.close();
          ended.abort();
        },
        cancel: (reason) => ended.abort(reason),
      });
    },
  };
}
