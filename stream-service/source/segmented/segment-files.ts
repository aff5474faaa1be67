import { setTimeout as sleep } from 'node:timers/promises';
import { abortable, createCache, createSemaphore, createSingleFlight, type Permit } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  audioTable,
  type FileLayout,
  layOutFile,
  placeRequest,
  startSecondsOf,
} from '@reelay/seekable-media/segment-file';
import { UpstreamError } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import { MAKE_PLACE, parse } from '../../../core/parsing/index.ts';
import { capabilitiesOf, type TrackFile } from '../../../core/state/index.ts';
import { generatedStream } from '../generated-stream.ts';
import type { FileSource, OpenRequest } from '../source.ts';
import { createListedFiles, type ListedFile, type ListedFilesOptions } from './listed-files.ts';
import { SegmentChanged } from './segment-fetch.ts';

/** Complete lists of segments as files: what a list has is known by a table, which is made once for all processes. */
export interface SegmentFiles {
  /**
   * As which file it is read, from when the first of its samples is decoded. Undefined: the list makes no file, or nobody knows yet. A
   * stream that does not wait for it any longer still wants it, until its client leaves.
   * @param isDetached it is wanted although its client leaves at once: of HEAD
   */
  find(request: OpenRequest, isDetached?: boolean): Promise<TrackFile | undefined>;
  /** @throws UpstreamError when the list makes no such file any more */
  open(request: OpenRequest, file: TrackFile): Promise<FileSource>;
}

const PLACES = { maxEntries: 10_000, maxAgeMs: 5 * 60_000, idle: { afterMs: 30_000, maxWeight: 16 * 1024 * 1024 } };
/** Milliseconds for which a place stays in memory for a client that does not take it. */
const MAX_HOLD_MS = 30_000;
/** A player asks for the next place over another connection, once it has closed the one before. */
const LINGER_MS = 2_000;
const CHUNK_BYTES = 256 * 1024;
/** What small places may take that are read ahead, side by side. */
const AHEAD_BYTES = 1024 * 1024;
const MAX_AHEAD = 4;

/** @param placeBytes of the places that streams use, and of those that are kept for others */
export function createSegmentFiles(options: ListedFilesOptions, placeBytes: number): SegmentFiles {
  const listed = createListedFiles(options);
  const memory = createSemaphore({ permits: placeBytes, maxPerClient: Math.ceil(placeBytes / 2) });
  const places = createCache<string, Buffer>({
    ...PLACES,
    maxWeight: placeBytes,
    weightOf: ({ length }) => length,
  });
  const reads = createSingleFlight<Buffer>();

  return {
    async find(request, isDetached = false) {
      const { signal, limits } = request;
      const waited = new AbortController();
      const file = await Promise.race([
        listed.find(request, isDetached ? undefined : signal),
        sleep(limits.maxTableWaitMs, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(
          () => undefined,
        ),
      ]);
      waited.abort();
      signal.throwIfAborted();
      if (file === undefined || file === 'none') return undefined;
      return { originSeconds: startSecondsOf(file.table), isAudioSized: audioTable(file.table) !== undefined };
    },

    async open(request, { originSeconds, isAudioAlone }) {
      const file = await listed.find(request, request.signal);
      const table = file !== 'none' && (isAudioAlone ? audioTable(file.table) : file.table);
      if (!table) throw new UpstreamError('The list of segments makes no file any more');
      const { segments, fetch } = file;
      const { header, offsets } = layoutOf({ ...file, table }, originSeconds, request.track.window?.recordedAtMs);
      const size = offsets.at(-1) ?? 0;
      const validator = digestOf([file.digest, originSeconds, header]);
      const { client } = request;

      const make = async (index: number, signal: AbortSignal): Promise<Buffer> => {
        const segment = segments[index];
        const { segmentBytes = 0 } = table.places[index] ?? {};
        try {
          if (!segment) throw new SegmentChanged('The list of segments is shorter');
          const bytes = await fetch.whole(segment, segmentBytes, { signal });
          return await parse(MAKE_PLACE, placeRequest(table, originSeconds, { index, segment: bytes }), {
            client,
            signal,
          });
        } catch (error) {
          const isUnsupported = error instanceof UnsupportedMp4;
          const isChanged = isUnsupported || error instanceof SegmentChanged;
          // A file that has changed is refused by its validator: what it has now is read again.
          if (isChanged || capabilitiesOf(request.track).isFile) await listed.forget(request, isUnsupported);
          if (!isChanged) throw error;
          throw new UpstreamError('A segment is not what it was', { cause: error });
        }
      };
      const readPlace = async (index: number, signal: AbortSignal): Promise<Buffer> => {
        const key = `${validator} ${index}`;
        const load = async (shared: AbortSignal) => places.get(key) ?? places.set(key, await make(index, shared));
        return places.get(key) ?? abortable(reads(key, load, lingering(signal)), signal);
      };

      /** The segment is in memory before its place is. */
      const bytesOf = (index: number) =>
        Math.max((offsets[index + 1] ?? size) - (offsets[index] ?? 0), table.places[index]?.segmentBytes ?? 0);
      const hold = async (index: number, permit: Permit, signal: AbortSignal): Promise<HeldPlace> => {
        try {
          return holdPlace(await readPlace(index, signal), permit);
        } catch (error) {
          permit.release();
          throw error;
        }
      };

      return {
        needsRemux: false,
        size,
        isSeekable: true,
        validator,
        header,
        read(first, last = size - 1) {
          const ended = new AbortController();
          const { signal } = ended;
          const parts = readParts(
            { header, offsets, first, last },
            {
              read: async (index) => hold(index, await memory.acquire(client, signal, bytesOf(index)), signal),
              readAhead(index) {
                const permit = memory.tryAcquire(client, bytesOf(index));
                return permit && hold(index, permit, signal);
              },
            },
          );
          return generatedStream(parts, () => ended.abort(new Error('Reading ended')));
        },
        close: () => undefined,
      };
    },
  };
}

/** A place that a stream sends. */
interface HeldPlace {
  /** Undefined: it has been released. */
  readonly bytes: () => Buffer | undefined;
  release(): void;
}

/** Holds a place until it is released, or its client is too slow: it is read again then. */
function holdPlace(place: Buffer, permit: Permit): HeldPlace {
  let held: Buffer | undefined = place;
  const release = () => {
    clearTimeout(timer);
    held = undefined;
    permit.release();
  };
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  return { bytes: () => held, release };
}

const MAX_LAYOUTS = 4;

function layoutOf({ table, layouts }: ListedFile, originSeconds: number, recordedAtMs?: number): FileLayout {
  const id = `${originSeconds} ${table.kinds}`;
  const layout = layouts.get(id) ?? layOutFile(table, originSeconds, recordedAtMs);
  for (const oldest of layouts.size >= MAX_LAYOUTS ? layouts.keys().take(1) : []) layouts.delete(oldest);
  layouts.set(id, layout);
  return layout;
}

interface FileRange {
  readonly header: Buffer;
  readonly offsets: readonly number[];
  readonly first: number;
  readonly last: number;
}

interface PlaceReading {
  /** Waits for the memory of the place. */
  read(index: number): Promise<HeldPlace>;
  /** Undefined: there is no memory for it. */
  readAhead(index: number): Promise<HeldPlace> | undefined;
}

/** The bytes of a range. While those of a place are taken, the next one is read, and as many small ones as make up `AHEAD_BYTES`. */
async function* readParts(
  { header, offsets, first, last }: FileRange,
  { read, readAhead }: PlaceReading,
): AsyncGenerator<Buffer> {
  if (first < header.length) yield Buffer.from(header.subarray(first, last + 1));
  const from = Math.max(
    0,
    offsets.findLastIndex((offset) => offset <= first),
  );
  const isWanted = (index: number) => index + 1 < offsets.length && (offsets[index] ?? 0) <= last;
  const ahead: Promise<HeldPlace>[] = [];
  let place: HeldPlace | undefined;
  try {
    for (let index = from; isWanted(index); index += 1) {
      const start = offsets[index] ?? 0;
      const end = offsets[index + 1] ?? 0;
      const until = Math.min(end, last + 1) - start;
      place = await ahead.shift();
      for (let at = Math.max(0, first - start); at < until; at += CHUNK_BYTES) {
        if (!place?.bytes()) place = await read(index);
        const bytes = place.bytes();
        if (!bytes) throw new TypeError('A place was not read');
        // Readers own what they get, and the place is kept.
        yield Buffer.from(bytes.subarray(at, Math.min(at + CHUNK_BYTES, until)));
        for (let next = index + 1 + ahead.length; isWanted(next); next += 1) {
          const isSmall = ahead.length < MAX_AHEAD && (offsets[next + 1] ?? 0) - end <= AHEAD_BYTES;
          const reading = ahead.length === 0 || isSmall ? readAhead(next) : undefined;
          if (!reading) break;
          reading.catch(() => undefined);
          ahead.push(reading);
        }
      }
      place?.release();
    }
  } finally {
    place?.release();
    for (const reading of ahead) reading.then(({ release }) => release()).catch(() => undefined);
  }
}

/** Aborted some time after a signal. */
function lingering(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  const onAbort = () => setTimeout(() => later.abort(signal.reason), LINGER_MS).unref();
  signal.addEventListener('abort', onAbort, { once: true });
  return later.signal;
}
