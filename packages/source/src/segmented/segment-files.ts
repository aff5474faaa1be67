import { setTimeout as sleep } from 'node:timers/promises';
import { abortable, createCache, createSemaphore, createSingleFlight, type Permit } from '@reelay/concurrency';
import { generatedStream, releaseBuffer } from '@reelay/guarded-fetch';
import { parseInitTracks, recyclePlace, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  audioTable,
  type FileLayout,
  layOutFile,
  placeRequest,
  startSecondsOf,
} from '@reelay/seekable-media/segment-file';
import type { Segment } from '@reelay/seekable-media/timeline';
import { digestOf } from '@reelay/seekable-media/values';
import { UpstreamError } from '../errors.ts';
import { type Name, nameOf } from '../names.ts';
import { MAKE_PLACE } from '../parsing.ts';
import type { FileSource } from '../source.ts';
import type { TrackFile } from '../track.ts';
import { createListedFiles, type ListedFile, type TableRequest } from './listed-files.ts';
import { type KnownSegment, MAX_SAMPLED_BYTES, type Samples, SegmentChanged } from './segment-fetch.ts';

/** How a file is wanted. */
export interface FileWish {
  /** Although its client leaves at once: of HEAD. What takes many requests ends soon after that. @default false */
  readonly isDetached?: boolean;
  /** There is nothing else to send: it is waited for until it is known whether the list makes one. @default false */
  readonly isNeeded?: boolean;
}

/** Complete lists of segments as files: what a list has is known by a table, which is made once for all processes. */
export interface SegmentFiles {
  /**
   * As which file it is read, from when the first of its samples is decoded. Undefined: the list makes no file, or nobody knows yet. A
   * stream that does not wait for it any longer still wants it, until its client leaves.
   */
  find(request: TableRequest, wish?: FileWish): Promise<TrackFile | undefined>;
  /** @throws UpstreamError when the list makes no such file any more */
  open(request: TableRequest, file: TrackFile, recordedAtMs?: number): Promise<FileSource>;
}

const PLACES = { maxEntries: 10_000, maxAgeMs: 5 * 60_000, idle: { afterMs: 30_000, maxWeight: 8 * 1024 * 1024 } };
/** Milliseconds for which a place stays in memory for a client that does not take it. */
const MAX_HOLD_MS = 30_000;
/** A player asks for the next place over another connection, once it has closed the one before. */
const LINGER_MS = 2_000;
const CHUNK_BYTES = 256 * 1024;
/** What small places may take that are read ahead, side by side. */
const AHEAD_BYTES = 1024 * 1024;
const MAX_AHEAD = 4;
const PROBES_PER_HOST = 8;

/**
 * @param placeBytes of the places that streams use, and of those that are kept for others
 * @param probesPerHost small requests to one host at once, by which tables are made
 */
export function createSegmentFiles(placeBytes: number, probesPerHost = PROBES_PER_HOST): SegmentFiles {
  const listed = createListedFiles(probesPerHost);
  const memory = createSemaphore({ permits: placeBytes, maxPerClient: Math.ceil(placeBytes / 2) });
  const kept = { ...PLACES, weightOf: ({ bytes }: Place) => bytes.buffer.byteLength + MAX_SAMPLED_BYTES };
  const places = createCache<Name, Place>({ ...kept, maxWeight: placeBytes });
  /** Those behind which a stream has gone on: other streams may want them, its own client does not. */
  const passed = createCache<Name, Place>({
    ...kept,
    maxWeight: placeBytes / 8,
    idle: { ...PLACES.idle, maxWeight: 0 },
    // Until the garbage collector frees memory, much of it makes it run often.
    onRemove: ({ bytes, readers }) => readers > 0 || recyclePlace(bytes),
  });
  const known = (key: Name) => places.get(key) ?? passed.get(key);
  const pass = (key: Name, place: Place) => {
    if (places.get(key) !== place) return;
    places.delete(key);
    passed.set(key, place);
  };
  const reads = createSingleFlight<Place, Name>();
  /** Counts places that were read: one that was there before a stream may be of an earlier version of a source that does not tell. */
  let order = 0;

  return {
    async find(request, { isDetached = false, isNeeded = false } = {}) {
      const { signal, limits } = request;
      const waited = new AbortController();
      const finding = listed.find(request, signal, isDetached);
      const until = AbortSignal.any([signal, waited.signal]);
      const file = await (isNeeded
        ? abortable(finding, signal)
        : Promise.race([finding, sleep(limits.maxTableWaitMs, undefined, { signal: until }).catch(() => undefined)]));
      waited.abort();
      signal.throwIfAborted();
      if (file === undefined || file === 'none') return undefined;
      return { originSeconds: startSecondsOf(file.table), isAudioSized: audioTable(file.table) !== undefined };
    },

    async open(request, { originSeconds, isAudioAlone }, recordedAtMs) {
      const file = await listed.find(request, request.signal);
      const table = file !== 'none' && (isAudioAlone ? audioTable(file.table) : file.table);
      if (!table) throw new UpstreamError('The list of segments makes no file any more');
      const { segments, fetch, versionOf } = file;
      const { header, offsets } = layoutOf({ ...file, table }, originSeconds, recordedAtMs);
      const size = offsets.at(-1) ?? 0;
      const name = nameOf([file.name], 'mp4', [originSeconds, digestOf(header)]);
      const { client, kind, parse } = request;
      const since = order;

      /** What a segment is, by the table. @throws UpstreamError for one that it is not any more, and what `use` throws */
      const withSegment = async <T>(
        index: number,
        use: (segment: Segment, known: KnownSegment) => Promise<T>,
      ): Promise<T> => {
        const segment = segments[index];
        const { segmentBytes = 0, encoding = 0 } = table.places[index] ?? {};
        const { state = Buffer.alloc(0) } = table.encodings[encoding] ?? {};
        const tracks = () => (table.format === 'mp4' ? parseInitTracks(state) : undefined);
        try {
          if (!segment) throw new SegmentChanged('The list of segments is shorter');
          return await use(segment, { bytes: segmentBytes, version: versionOf(index), tracks });
        } catch (error) {
          const isChanged = error instanceof UnsupportedMp4 || error instanceof SegmentChanged;
          // A file that has changed is refused by its validator: what it has now is read again.
          if (isChanged || (kind.isFile && error instanceof UpstreamError)) await listed.forget(request, error);
          if (!isChanged) throw error;
          throw new UpstreamError('A segment is not what it was', { cause: error });
        }
      };
      const make = (index: number, signal: AbortSignal): Promise<Place> =>
        withSegment(index, async (segment, known) => {
          const { parts, samples } = await fetch.whole(segment, known, { signal });
          const request = placeRequest(table, originSeconds, { index, segment: parts });
          const bytes = await parse(MAKE_PLACE, request, { client, signal });
          parts.forEach(releaseBuffer);
          order += 1;
          return { bytes, samples, readers: 0, order };
        });
      /** Compares a place that another stream has read with its source, before what is read now is kept beside it. */
      const compare = async (index: number, signal: AbortSignal): Promise<void> => {
        const place = known(keyOf(index));
        if (!place || place.order > since) return;
        await withSegment(index, (segment, known) => fetch.compare(segment, known, place.samples, { signal }));
      };
      const keyOf = (index: number) => nameOf([name], 'place', index);
      const readPlace = async (index: number, signal: AbortSignal): Promise<Place> => {
        const key = keyOf(index);
        const load = async (shared: AbortSignal) => {
          const read = known(key);
          if (read) return read;
          const beside = [index - 1, index + 1].map((other) => compare(other, shared));
          const [place] = await Promise.all([make(index, shared), ...beside]);
          return places.set(key, place);
        };
        return known(key) ?? abortable(reads(key, load, lingering(signal)), signal);
      };

      /** The segment is in memory before its place is. */
      const bytesOf = (index: number) =>
        Math.max((offsets[index + 1] ?? size) - (offsets[index] ?? 0), table.places[index]?.segmentBytes ?? 0);
      const hold = async (index: number, permit: Permit, signal: AbortSignal): Promise<HeldPlace> => {
        try {
          const place = await readPlace(index, signal);
          return holdPlace(place, permit, () => pass(keyOf(index), place));
        } catch (error) {
          permit.release();
          throw error;
        }
      };

      return {
        needsRemux: false,
        size,
        validator: name,
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

interface Place {
  /** Empty: it has been freed. */
  readonly bytes: Buffer;
  /** Of its segment. */
  readonly samples: Samples;
  /** Streams that hold it. */
  readers: number;
  /** When it was read, after how many others. */
  readonly order: number;
}

/** A place that a stream sends. */
interface HeldPlace {
  /** Undefined: it has been released. */
  readonly bytes: () => Buffer | undefined;
  /** @param isPassed the stream goes on behind it */
  release(isPassed?: boolean): void;
}

/** Holds a place until it is released, or its client is too slow: it is read again then. */
function holdPlace(place: Place, permit: Permit, onPassed: () => void): HeldPlace {
  let isHeld = true;
  place.readers += 1;
  const release = (isPassed = false) => {
    clearTimeout(timer);
    if (!isHeld) return;
    isHeld = false;
    place.readers -= 1;
    permit.release();
    if (isPassed) onPassed();
  };
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  return { bytes: () => (isHeld && place.bytes.length > 0 ? place.bytes : undefined), release };
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
        let bytes = place?.bytes();
        while (!bytes) {
          place?.release();
          place = await read(index);
          bytes = place.bytes();
        }
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
      place?.release(isWanted(index + 1));
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
