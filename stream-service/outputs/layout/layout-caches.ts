import { createCache, createSingleFlight } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { HEADER_RANGE } from '@reelay/seekable-media/reading';
import { LAY_OUT_HLS, LAY_OUT_PAIR } from '@reelay/seekable-media/tasks';
import { packSource, type SourceIndex, unpackLayout } from '@reelay/seekable-media/virtual-mp4';
import { type Name, nameOf } from '@reelay/source/names';
import { withoutFrames } from '../../../core/errors/index.ts';
import { parse } from '../../../core/parsing/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { type Opening, toReadError } from '../representation.ts';
import { layOutPart } from './lay-out-part.ts';
import {
  type KnownLayout,
  type LayoutMaking,
  type LayoutReader,
  type LayoutRequest,
  type OpenFile,
  type ReadLayoutOptions,
  readLayout,
} from './read-layout.ts';

/** The layouts that were made. */
export interface LayoutCaches {
  /**
   * The layout from the cache or from the headers of the sources, which concurrent callers of one request read once.
   * @param keep as of `ReadLayoutOptions`, where this call has read them: they are read on from their beginning
   * @returns UnsupportedMp4 when the files have no layout
   */
  load(
    request: LayoutRequest,
    opening: Omit<Opening, 'range'>,
    keep?: ReadLayoutOptions['keep'],
  ): Promise<KnownLayout | UnsupportedMp4>;
  /** Removes a layout whose files have changed. */
  delete(request: LayoutRequest): void;
}

/** How layouts are made, by kind. */
type LayoutKinds = Readonly<Record<LayoutRequest['of'], LayoutMaking>>;

export interface LayoutCachesOptions {
  /** @default those of the kinds */
  readonly kinds?: LayoutKinds;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const MAX_ENTRIES = 2000;
/** An hour of a fragmented pair has about 100 KB, of a progressive pair or a clip 3 MB. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Bytes of one entry besides those of its layout: objects, and a buffer of a few bytes may be a part of one of 8 KB. */
const ENTRY_BYTES = 10 * 1024;
/** Reading the headers of a longer file again takes some hundred milliseconds. */
const IDLE = { afterMs: 30_000, maxWeight: 8 * 1024 * 1024 };
/** A layout is compared with its files on every read; this bounds how long HEAD answers without opening them. */
const MAX_AGE_MS = 60 * 60 * 1000;

export function createLayoutCaches({ kinds = KINDS, now }: LayoutCachesOptions = {}): LayoutCaches {
  const entries = createCache<Name, KnownLayout | UnsupportedMp4>({
    maxEntries: MAX_ENTRIES,
    maxAgeMs: MAX_AGE_MS,
    maxWeight: MAX_BYTES,
    now,
    weightOf: (known) => ENTRY_BYTES + (known instanceof UnsupportedMp4 ? 0 : known.layout.memoryBytes),
    idle: IDLE,
  });
  const loads = createSingleFlight<KnownLayout | UnsupportedMp4, Name>();

  const read = async (request: LayoutRequest, options: ReadLayoutOptions) => {
    const known = await readLayout(request, kinds[request.of], options).catch((error) => {
      if (error instanceof UnsupportedMp4) return withoutFrames(error);
      throw error;
    });
    return entries.set(request.id, known);
  };

  return {
    async load(request, { session: { client, signal }, openSource, isForHead }, keep) {
      const { id, found } = request;
      const range = keep ? undefined : HEADER_RANGE;
      const options = (shared: AbortSignal): ReadLayoutOptions => ({
        client,
        signal: shared,
        keep,
        open: (index, until) => openSource(found.resource, trackOf(found, index), { client, signal: until, range }),
      });
      return (
        entries.get(id) ??
        // HEAD does not resolve again, so it may fail where GET does not.
        loads(nameOf([id], 'headers', isForHead), (shared) => read(request, options(shared)), signal).catch((error) => {
          throw signal.aborted ? error : toReadError(error);
        })
      );
    },
    delete: ({ id }) => entries.delete(id),
  };
}

export const trackOf = ({ tracks }: KeyedRendition, index: SourceIndex): Track => {
  const track = tracks[index];
  if (!track) throw new TypeError(`No track ${index}`);
  return track;
};

const KINDS: LayoutKinds = {
  pair: { layOut: layOutPair },
  part: { layOut: layOutPart, needsHeaders: true },
  list: { layOut: layOutPair },
  presentation: { layOut: layOutPresentation, needsFirstFragment: true },
};

const packAll = (files: readonly OpenFile[]) => files.map(({ header, list }) => list ?? packSource(header));

/** All of a list of segments, or of two files or more. */
async function layOutPair(files: readonly OpenFile[], { extras, found }: LayoutRequest, reader: LayoutReader) {
  const { recordedAtMs } = found.tracks[0].window ?? {};
  const input = { sources: packAll(files), extras: { ...extras, recordedAtMs } };
  return unpackLayout(await parse(LAY_OUT_PAIR, input, reader));
}

async function layOutPresentation(files: readonly OpenFile[], { only }: LayoutRequest, reader: LayoutReader) {
  const [source] = packAll(files);
  if (!source) throw new TypeError('No source');
  const { data, stream } = await parse(LAY_OUT_HLS, { source, only }, reader);
  return { ...unpackLayout(data), stream };
}
