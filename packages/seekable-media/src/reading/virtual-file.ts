import { fileType } from '../codecs.ts';
import { UnsupportedMp4 } from '../isobmff/index.ts';
import { layOutClipSources, packMoofs, parseFileTracks, selectFragments } from '../mp4-clip/index.ts';
import type { Parsing } from '../tasks/index.ts';
import { digestOf } from '../values.ts';
import { createLayout, LAYOUT_VERSION, type Layout, packSource, unpackSource } from '../virtual-mp4/index.ts';
import { ByteReader, type ByteSource } from './byte-reader.ts';
import { readFileHeaders } from './file-headers.ts';
import { type LayoutReadOptions, readLayoutBytes } from './layout-bytes.ts';
import { readMovieFragments } from './movie-fragments.ts';
import type { FragmentSource } from './subsegment-content.ts';

/** The bytes of a file, in Web standards. */
export interface Source {
  /** Bytes, exact. */
  readonly size: number;
  /** Names the version of its bytes, for entity tags. @default all files of this size are the same */
  readonly version?: string;
  /** Reads from `start` to `end`, which is excluded. The stream has exactly these bytes, or fails. */
  read(start: number, end: number): ReadableStream<Uint8Array>;
}

/** A complete list of segments, of which fragments are read. */
export interface SegmentListSource {
  readonly version: string;
  readonly fragments: FragmentSource;
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

const isList = (source: Source | SegmentListSource): source is SegmentListSource => 'fragments' in source;

const toByteSource = ({ size, read }: Source): ByteSource => ({
  size,
  read: (first, last = size - 1) => read(first, last + 1),
});

/**
 * One MP4 of the video of the first source and the audio of the others; of a list of segments, all that it has. Reads their headers.
 * @throws UnsupportedMp4 when its bytes cannot be known from them
 */
export async function join(
  sources: readonly (Source | SegmentListSource)[],
  options: Parsing = {},
): Promise<VirtualFile> {
  const headers = await Promise.all(
    sources.map(async (source) =>
      isList(source)
        ? unpackSource(source.fragments.index)
        : readFileHeaders(new ByteReader(toByteSource(source)), options),
    ),
  );
  return toFile(createLayout(headers), sources, options);
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
  const header = await readFileHeaders(new ByteReader(file), options);
  const kinds = ['vide', 'soun'] as const;
  const tracks = parseFileTracks(header, kinds);
  const entries = header.fragments && selectFragments(header.fragments, tracks, { ...times, fileBytes: source.size });
  const fragments = entries && packMoofs(await readMovieFragments(file, entries, { files: 1, signal }));
  const layout = layOutClipSources([{ header: packSource(header), kinds, fragments }], times, {});
  return toFile(layout, [source], options);
}

function toFile(layout: Layout, sources: readonly (Source | SegmentListSource)[], parsing: Parsing): VirtualFile {
  const versions = sources.map((source) => (isList(source) ? source.version : [source.size, source.version]));
  return createVirtualFile({
    ...parsing,
    layout,
    version: digestOf([LAYOUT_VERSION, layout.fingerprint, versions]),
    lists: sources.map((source) => (isList(source) ? source.fragments : undefined)),
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
      const ended = new AbortController();
      const reading = chunks(start, end - 1, ended.signal);
      return new ReadableStream({
        async pull(controller) {
          const { value, done } = await reading.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel(reason) {
          ended.abort(reason);
          await reading.return(undefined).catch(() => undefined);
        },
      });
    },
  };
}

/**
 * A file on a server that answers ranges. Asks for its first byte to know its size.
 * @throws TypeError for a server that does not
 */
export async function urlSource(url: string | URL, { fetch = globalThis.fetch } = {}): Promise<Source> {
  const first = await fetch(url, { headers: { range: 'bytes=0-0' } });
  await first.body?.cancel();
  const total = /\/(\d+)$/.exec(first.headers.get('content-range') ?? '')?.[1];
  if (first.status !== 206 || total === undefined) throw new TypeError(`${url} cannot be read by ranges`);
  const version = first.headers.get('etag') ?? first.headers.get('last-modified') ?? undefined;
  return {
    size: Number(total),
    version,
    read(start, end) {
      const ended = new AbortController();
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      return new ReadableStream({
        async pull(controller) {
          reader ??= await open();
          const { value, done } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => ended.abort(reason),
      });
      async function open() {
        const headers = { range: `bytes=${start}-${end - 1}`, ...(version && { 'if-range': version }) };
        const response = await fetch(url, { headers, signal: ended.signal });
        // A file that has changed is sent as a whole.
        if (response.status !== 206 || !response.body) throw new TypeError(`${url} has changed`);
        return response.body.getReader();
      }
    },
  };
}
