import { createHash } from 'node:crypto';
import { createLruCache, createSemaphore, createSingleFlight } from '../../core/concurrency/index.ts';
import { UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import {
  LAYOUT_VERSION,
  type Layout,
  type LayoutSource,
  type SourceIndex,
} from '../../core/media/virtual-mp4/index.ts';
import type { FileSource, Source } from '../source/index.ts';
import type { SizedFile } from './layout-stream.ts';
import { readLayoutSource } from './read-layout-source.ts';

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

/** Layouts of one kind, by request. */
export interface LayoutCache<Request extends LayoutRequest, L extends Layout = Layout> {
  /** The layout if it is in the cache; UnsupportedMp4: the files are known to have none. */
  get(request: Request): KnownLayout<L> | UnsupportedMp4 | undefined;
  /**
   * The layout from the cache or from the headers of the sources, which concurrent callers of one request read once.
   * @returns UnsupportedMp4 when the files have no layout
   * @throws what opening and reading throws
   */
  load(request: Request, open: OpenTrack, signal: AbortSignal): Promise<KnownLayout<L> | UnsupportedMp4>;
  /** Removes a layout whose files have changed. */
  delete(request: Request): void;
}

export interface LayoutCacheOptions<Request extends LayoutRequest, L extends Layout> {
  /** Of all layouts. One hour of a fragmented pair has about 100 KB, of a progressive pair 3 MB. */
  readonly maxMemoryBytes: number;
  /**
   * @param files in the order of the request's sources
   * @throws UnsupportedMp4 when they have no layout, and what reading throws
   */
  readonly layOut: (files: readonly OpenFile[], request: Request, signal: AbortSignal) => L | Promise<L>;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const MAX_ENTRIES = 1000;
/** A layout is compared with its files on every read; this bounds how long HEAD answers without opening them. */
const MAX_AGE_MS = 60 * 60 * 1000;

/** Limits requests whose headers need much memory while a layout is made, up to 64 MB each. */
const LARGE_HEADERS = createSemaphore({ permits: 2 });

interface Entry<L extends Layout> {
  readonly known: KnownLayout<L> | UnsupportedMp4;
  readonly staleAt: number;
}

export function createLayoutCache<Request extends LayoutRequest, L extends Layout = Layout>(
  options: LayoutCacheOptions<Request, L>,
): LayoutCache<Request, L> {
  const { maxMemoryBytes, now = Date.now } = options;
  const entries = createLruCache<string, Entry<L>>(MAX_ENTRIES, {
    maxWeight: maxMemoryBytes,
    weightOf: ({ known }) => (known instanceof UnsupportedMp4 ? 0 : known.layout.memoryBytes),
  });
  const loads = createSingleFlight<KnownLayout<L> | UnsupportedMp4>();

  const get = ({ id }: Request) => {
    const entry = entries.get(id);
    if (entry && entry.staleAt > now()) return entry.known;
    entries.delete(id);
    return undefined;
  };

  const read = async (request: Request, open: OpenTrack, signal: AbortSignal) => {
    const known = await readLayout(request, open, options.layOut, signal).catch((error) => {
      if (error instanceof UnsupportedMp4) return error;
      throw error;
    });
    entries.set(request.id, { known, staleAt: now() + MAX_AGE_MS });
    return known;
  };

  return {
    get,
    load: async (request, open, signal) =>
      get(request) ?? loads(request.id, (shared) => read(request, open, shared), signal),
    delete: ({ id }) => entries.delete(id),
  };
}

/** @throws UnsupportedMp4 when the files have no layout, and what opening and reading throws */
async function readLayout<Request extends LayoutRequest, L extends Layout>(
  request: Request,
  open: OpenTrack,
  layOut: LayoutCacheOptions<Request, L>['layOut'],
  signal: AbortSignal,
): Promise<KnownLayout<L>> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const readOne = async (index: SourceIndex): Promise<OpenFile> => {
    const source = await open(index, either);
    const close = () => source.close();
    if (either.aborted) close();
    else either.addEventListener('abort', close, { once: true });
    const file = requireSizedFile(source);
    return { file, header: await readLayoutSource(file, either, beforeLarge) };
  };
  let permit: Promise<() => void> | undefined;
  const beforeLarge = async () => {
    // One permit for all files of the request: two requests that each wait for a second one would wait forever.
    permit ??= LARGE_HEADERS.acquire(either);
    await permit;
  };
  try {
    const files = await Promise.all(request.sources.map(readOne));
    const layout = await layOut(files, request, either);
    const entities = files.map(({ file: { size, validator } }) => ({ size, validator }));
    return {
      layout,
      etag: etagOf(request.id, entities, layout),
      fits(index, file): file is SizedFile {
        const entity = entities[request.sources.indexOf(index)];
        return !file.needsRemux && file.size === entity?.size && file.validator === entity?.validator;
      },
    };
  } finally {
    // Closes the files, and ends reading the other one when one has failed.
    ended.abort(new Error('The headers have been read'));
    permit?.then((release) => release()).catch(() => undefined);
  }
}

/** With the headers, because a source without validators is only known by its size. */
function etagOf(id: string, entities: readonly object[], { fingerprint }: Layout): string {
  const parts = JSON.stringify([LAYOUT_VERSION, id, entities, fingerprint]);
  return `"${createHash('sha256').update(parts).digest('base64url').slice(0, 22)}"`;
}

function requireSizedFile(source: Source): SizedFile {
  if (source.needsRemux || source.size === undefined) throw new UnsupportedMp4('Not a file of known size');
  return source as FileSource & { readonly size: number };
}
