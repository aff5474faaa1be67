import { createHash } from 'node:crypto';
import { createLruCache, createSingleFlight } from '../../core/concurrency/index.ts';
import { UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import { createLayout, LAYOUT_VERSION, type Layout, type SourceIndex } from '../../core/media/virtual-mp4/index.ts';
import type { FileSource, Source } from '../source/index.ts';
import type { SizedFile } from './layout-stream.ts';
import { readLayoutSource } from './read-layout-source.ts';

/** The layout of a pair, and the files that it was made for. */
export interface KnownLayout {
  readonly layout: Layout;
  /** Strong validator of the output, quotes included: other files or another layout version have another one. */
  readonly etag: string;
  /** Whether a source is still the file of the layout. */
  fits(source: SourceIndex, file: Source): file is SizedFile;
}

/** Opens a track of a pair at its beginning. The source is closed by the caller of this function. */
export type OpenTrack = (source: SourceIndex, signal: AbortSignal) => Promise<Source>;

/** The layouts of pairs by key. */
export interface Layouts {
  /** The layout if it is in the cache; `none`: the pair is known to have no layout. */
  recall(key: string): KnownLayout | 'none' | undefined;
  /**
   * The layout from the cache or from the headers of both sources, which concurrent callers of one key read once.
   * @returns undefined when the pair has no layout
   * @throws what opening and reading throws
   */
  load(key: string, open: OpenTrack, signal: AbortSignal): Promise<KnownLayout | undefined>;
  /** Removes a layout whose files have changed. */
  forget(key: string): void;
}

const MAX_ENTRIES = 1000;
/** Of all layouts. One hour of a fragmented pair has about 100 KB, of a progressive pair 3 MB. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
/** A layout is compared with its files on every read; this bounds how long HEAD answers without opening them. */
const MAX_AGE_MS = 60 * 60 * 1000;

interface Entry {
  readonly known: KnownLayout | 'none';
  readonly staleAt: number;
}

/** @param now epoch milliseconds */
export function createLayouts(now: () => number = Date.now): Layouts {
  const entries = createLruCache<string, Entry>(MAX_ENTRIES, {
    maxWeight: MAX_MEMORY_BYTES,
    weightOf: ({ known }) => (known === 'none' ? 0 : known.layout.memoryBytes),
  });
  const loads = createSingleFlight<KnownLayout | undefined>();

  const recall = (key: string) => {
    const entry = entries.get(key);
    if (entry && entry.staleAt > now()) return entry.known;
    entries.delete(key);
    return undefined;
  };

  const read = async (key: string, open: OpenTrack, signal: AbortSignal) => {
    const known = await readLayout(key, open, signal).catch((error) => {
      if (error instanceof UnsupportedMp4) return undefined;
      throw error;
    });
    entries.set(key, { known: known ?? 'none', staleAt: now() + MAX_AGE_MS });
    return known;
  };

  return {
    recall,
    async load(key, open, signal) {
      const known = recall(key);
      if (known) return known === 'none' ? undefined : known;
      return loads(key, (shared) => read(key, open, shared), signal);
    },
    forget: (key) => entries.delete(key),
  };
}

/** @throws UnsupportedMp4 when the pair has no layout, and what opening and reading throws */
async function readLayout(key: string, open: OpenTrack, signal: AbortSignal): Promise<KnownLayout> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const readOne = async (index: SourceIndex) => {
    const source = await open(index, either);
    const close = () => source.close();
    either.addEventListener('abort', close, { once: true });
    try {
      const file = requireSizedFile(source);
      return { file, header: await readLayoutSource(file, either) };
    } finally {
      either.removeEventListener('abort', close);
      close();
    }
  };
  const reading = [readOne(0), readOne(1)] as const;
  for (const each of reading) each.catch((error) => failed.abort(error));
  const [video, audio] = await Promise.all(reading);
  const files = [video.file, audio.file] as const;
  const layout = createLayout(video.header, audio.header);
  const entities = files.map(({ size, validator }) => ({ size, validator }));
  return {
    layout,
    etag: etagOf(key, entities, layout),
    fits: (index, file): file is SizedFile =>
      !file.needsRemux && file.size === entities[index]?.size && file.validator === entities[index]?.validator,
  };
}

/** With the headers, because a source without validators is only known by its size. */
function etagOf(key: string, entities: readonly object[], { own }: Layout): string {
  const headers = createHash('sha256').update(own).digest('base64url');
  const parts = JSON.stringify([LAYOUT_VERSION, key, entities, headers]);
  return `"${createHash('sha256').update(parts).digest('base64url').slice(0, 22)}"`;
}

function requireSizedFile(source: Source): SizedFile {
  if (source.needsRemux || source.size === undefined) throw new UnsupportedMp4('Not a file of known size');
  return source as FileSource & { readonly size: number };
}
