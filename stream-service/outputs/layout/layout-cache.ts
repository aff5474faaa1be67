import { createCache, createSingleFlight } from '../../../core/concurrency/index.ts';
import { withoutFrames } from '../../../core/errors/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { Layout } from '../../../core/media/virtual-mp4/index.ts';
import {
  type KnownLayout,
  type LayOut,
  type LayoutReader,
  type LayoutRequest,
  type OpenTrack,
  readLayout,
} from './read-layout.ts';

/** Layouts of one kind, by request. */
export interface LayoutCache<Request extends LayoutRequest, L extends Layout = Layout> {
  /** The layout if it is in the cache; UnsupportedMp4: the files are known to have none. */
  get(request: Request): KnownLayout<L> | UnsupportedMp4 | undefined;
  /**
   * The layout from the cache or from the headers of the sources, which concurrent callers of one request read once.
   * @returns UnsupportedMp4 when the files have no layout
   * @throws what opening and reading throws
   */
  load(request: Request, open: OpenTrack, reader: LayoutReader): Promise<KnownLayout<L> | UnsupportedMp4>;
  /** Removes a layout whose files have changed. */
  delete(request: Request): void;
}

export interface LayoutCacheOptions<Request extends LayoutRequest, L extends Layout> {
  /** Of all layouts. One hour of a fragmented pair has about 100 KB, of a progressive pair 3 MB. */
  readonly maxMemoryBytes: number;
  readonly layOut: LayOut<Request, L>;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const MAX_ENTRIES = 1000;
/** Of one entry, besides the bytes of its layout: objects, and a buffer of a few bytes may be a part of one of 8 KB. */
const ENTRY_BYTES = 10 * 1024;
/** Reading the headers of a longer file again takes some hundred milliseconds. */
const IDLE = { afterMs: 30_000, maxWeight: 4 * 1024 * 1024 };
/** A layout is compared with its files on every read; this bounds how long HEAD answers without opening them. */
const MAX_AGE_MS = 60 * 60 * 1000;

export function createLayoutCache<Request extends LayoutRequest, L extends Layout = Layout>(
  options: LayoutCacheOptions<Request, L>,
): LayoutCache<Request, L> {
  const { maxMemoryBytes, now } = options;
  const entries = createCache<string, KnownLayout<L> | UnsupportedMp4>({
    maxEntries: MAX_ENTRIES,
    maxAgeMs: MAX_AGE_MS,
    maxWeight: maxMemoryBytes,
    now,
    weightOf: (known) => ENTRY_BYTES + (known instanceof UnsupportedMp4 ? 0 : known.layout.memoryBytes),
    idle: IDLE,
  });
  const loads = createSingleFlight<KnownLayout<L> | UnsupportedMp4>();

  const get = ({ id }: Request) => entries.get(id);

  const read = async (request: Request, open: OpenTrack, reader: LayoutReader) => {
    const known = await readLayout(request, open, options.layOut, reader).catch((error) => {
      if (error instanceof UnsupportedMp4) return withoutFrames(error);
      throw error;
    });
    return entries.set(request.id, known);
  };

  return {
    get,
    load: async (request, open, { client, signal }) =>
      get(request) ?? loads(request.id, (shared) => read(request, open, { client, signal: shared }), signal),
    delete: ({ id }) => entries.delete(id),
  };
}
