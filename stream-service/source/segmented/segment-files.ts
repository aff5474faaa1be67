import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import {
  abortable,
  createCache,
  createSemaphore,
  createSingleFlight,
  ownTurn,
} from '../../../core/concurrency/index.ts';
import { memoryShares } from '../../../core/config/index.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import {
  type FileLayout,
  FORMAT_NAMES,
  layOutFile,
  packTable,
  placeRequest,
  type SegmentTable,
  startSecondsOf,
  unpackTable,
} from '../../../core/media/segment-file/index.ts';
import { isSameMedia, type Segment, type Timeline } from '../../../core/media/timeline/index.ts';
import { MAKE_PLACE, parse } from '../../../core/parsing/index.ts';
import { type AttachmentName, capabilitiesOf, MAX_ATTACHMENT_BYTES, type State } from '../../../core/state/index.ts';
import { generatedStream } from '../generated-stream.ts';
import type { FileSource, OpenRequest } from '../source.ts';
import { TrackLocator } from '../track-locator.ts';
import { ChunkSizer } from '../upstream-request.ts';
import { type LiveLists, loadWindow } from './live-lists.ts';
import { loadDash, loadHls } from './load-timeline.ts';
import { createProbeLimits, readTable } from './read-table.ts';
import { createSegmentFetch, SegmentChanged, type SegmentFetch } from './segment-fetch.ts';

/** Complete lists of segments as files: what a list has is known by a table, which is made once for all processes. */
export interface SegmentFiles {
  /**
   * When the first sample of the file is decoded, in seconds on the clock of its segments. Undefined: the list makes no file, or
   * nobody knows yet. A stream that does not wait for it any longer still wants it, until its client leaves.
   * @param isDetached it is wanted although its client leaves at once: of HEAD
   */
  startSeconds(request: OpenRequest, isDetached?: boolean): Promise<number | undefined>;
  /** @throws UpstreamError when the list makes no such file any more */
  open(request: OpenRequest, originSeconds: number): Promise<FileSource>;
}

export interface SegmentFilesOptions {
  /** Where tables are stored. Absent: each process makes its own. */
  readonly state?: Pick<State, 'getAttachment' | 'putAttachment' | 'dropAttachment'>;
  readonly lists: LiveLists;
  /** Small requests to one host at once, by which tables are made. */
  readonly probesPerHost: number;
}

/** A list with its table. */
interface ListedFile {
  readonly table: SegmentTable;
  /** Of what is stored: the same in every process. */
  readonly digest: string;
  readonly segments: readonly Segment[];
  readonly fetch: SegmentFetch;
  /** By the time that they begin at: a pair may begin earlier than one of its files. */
  readonly layouts: Map<number, FileLayout>;
}

/** With the names of tables: another form of them, or other bytes of their files. */
const VERSION = 1;
const MAX_MAKING_MS = 3 * 60_000;
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Lists in memory, of some hundred bytes for each segment. */
const FILES = {
  maxEntries: 200,
  maxAgeMs: 30 * 60_000,
  maxWeight: 200_000,
  idle: { afterMs: 5 * 60_000, maxWeight: 20_000 },
};
/** How long it is remembered that a list makes no file, or could not be read. */
const NONE_MS = 10 * 60_000;
const FAILED_MS = 30_000;
const PLACES = { maxEntries: 10_000, maxAgeMs: 5 * 60_000, idle: { afterMs: 30_000, maxWeight: 16 * 1024 * 1024 } };
/** A player asks for the next place over another connection, once it has closed the one before. */
const LINGER_MS = 2_000;
const CHUNK_BYTES = 256 * 1024;
/** Of small places that are read ahead, side by side. */
const AHEAD_BYTES = 1024 * 1024;
const MAX_AHEAD = 4;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

export function createSegmentFiles({ state: table, lists, probesPerHost }: SegmentFilesOptions): SegmentFiles {
  const limits = createProbeLimits(probesPerHost);
  const makers = createSemaphore({ permits: 8, maxPerClient: 2 });
  const files = createCache<string, ListedFile | 'none'>({
    ...FILES,
    weightOf: (file) => (file === 'none' ? 1 : file.segments.length),
  });
  const flights = createSingleFlight<ListedFile | 'none'>();
  const places = createCache<string, Buffer>({
    ...{ ...PLACES, maxWeight: memoryShares().placeBytes },
    weightOf: ({ length }) => length,
  });
  const reads = createSingleFlight<Buffer>();

  const idOf = ({ resource, track: { formatId, window } }: OpenRequest) =>
    [resource.id, formatId, window?.first, window?.last].join(' ');
  /** Windows are not stored: other processes may not know their segments any more. */
  const stateFor = ({ track }: OpenRequest) => (track.window ? undefined : table);
  const nameOf = ({ track }: OpenRequest): AttachmentName =>
    `places-${digestOf([VERSION, FORMAT_NAMES, track.formatId]).slice(0, 22)}`;

  /** A table does not fit its list any more. */
  const forget = async (request: OpenRequest, isUnsupported: boolean): Promise<void> => {
    const { resource, log } = request;
    const state = stateFor(request);
    if (isUnsupported) files.set(idOf(request), 'none', Date.now() + NONE_MS);
    else files.delete(idOf(request));
    try {
      await state?.dropAttachment(resource.id, nameOf(request));
      if (isUnsupported) await state?.putAttachment(resource.id, nameOf(request), Buffer.alloc(0));
    } catch (error) {
      log.warn('A table of segments could not be dropped', { resource: resource.id, error });
    }
  };

  const make = async (request: OpenRequest, list: LoadedList): Promise<Buffer> => {
    const { client, signal } = request;
    const permit = await makers.acquire(client, signal);
    try {
      const table = await readTable(list.segments, { fetch: list.fetch, limits, client, signal });
      const packed = await compress(Buffer.concat([Buffer.from(`${list.digest}\n`), packTable(table)]));
      return packed.length > MAX_ATTACHMENT_BYTES ? Buffer.alloc(0) : packed;
    } catch (error) {
      if (!(error instanceof UnsupportedMp4)) throw error;
      request.log.info('A list of segments makes no file', { resource: request.resource.id, reason: error.message });
      return Buffer.alloc(0);
    } finally {
      permit.release();
    }
  };

  const load = async (request: OpenRequest): Promise<ListedFile | 'none'> => {
    const { resource } = request;
    const state = stateFor(request);
    const name = nameOf(request);
    const list = await loadList(request, lists, () => forget(request, false));
    let stored = await state?.getAttachment(resource.id, name);
    let known = stored && (await readStored(stored, list));
    if (!known) {
      if (stored) await state?.dropAttachment(resource.id, name);
      const made = await make(request, list);
      stored = (await state?.putAttachment(resource.id, name, made)) ?? made;
      known = await readStored(stored, list);
    }
    if (!known) throw new UpstreamError('Segment list has changed');
    if (known === 'none') return known;
    const segments = list.segments.filter(({ isGap }) => !isGap);
    return { ...known, segments, fetch: list.fetch, layouts: new Map() };
  };

  /** @param signal of who wants it. Absent: it is made to the end */
  const find = (request: OpenRequest, signal?: AbortSignal): Promise<ListedFile | 'none'> => {
    const id = idOf(request);
    const known = files.get(id);
    if (known) return Promise.resolve(known);
    const make = async (shared: AbortSignal) => {
      const made = { ...request, signal: AbortSignal.any([shared, AbortSignal.timeout(MAX_MAKING_MS)]) };
      try {
        const file = await load(made);
        return files.set(id, file, file === 'none' ? Date.now() + NONE_MS : undefined);
      } catch (error) {
        // All who wanted it have left: it can be made for the next ones.
        shared.throwIfAborted();
        request.log.info('A list of segments could not be read', { resource: request.resource.id, error });
        return files.set(id, 'none', Date.now() + FAILED_MS);
      }
    };
    return flights(id, make, signal);
  };

  return {
    async startSeconds(request, isDetached = false) {
      const { signal, limits } = request;
      const waited = new AbortController();
      const file = await Promise.race([
        find(request, isDetached ? undefined : signal),
        sleep(limits.maxTableWaitMs, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(
          () => undefined,
        ),
      ]);
      waited.abort();
      signal.throwIfAborted();
      return file === undefined || file === 'none' ? undefined : startSecondsOf(file.table);
    },

    async open(request, originSeconds) {
      const file = await find(request, request.signal);
      if (file === 'none') throw new UpstreamError('The list of segments makes no file any more');
      const { table, segments, fetch } = file;
      const { header, offsets } = layoutOf(file, originSeconds, request.track.window?.recordedAtMs);
      const size = offsets.at(-1) ?? 0;
      const validator = digestOf([file.digest, originSeconds, header]);
      const { client, readAheadBudget } = request;

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
          if (!isUnsupported && !(error instanceof SegmentChanged)) throw error;
          await forget(request, isUnsupported);
          throw new UpstreamError('A segment is not what it was', { cause: error });
        }
      };
      const readPlace = async (index: number, signal: AbortSignal): Promise<Buffer> => {
        const key = `${validator} ${index}`;
        const load = async (shared: AbortSignal) => places.get(key) ?? places.set(key, await make(index, shared));
        return places.get(key) ?? abortable(reads(key, load, lingering(signal)), signal);
      };

      return {
        ...{ needsRemux: false, size, isSeekable: true, validator, header },
        read(first, last = size - 1) {
          const ended = new AbortController();
          const parts = readParts({ header, offsets, first, last }, async (index, isAhead) => {
            const bytes = (offsets[index + 1] ?? size) - (offsets[index] ?? 0);
            if (isAhead && !readAheadBudget.tryReserve(bytes)) return undefined;
            return readPlace(index, ended.signal).finally(() => isAhead && readAheadBudget.release(bytes));
          });
          return generatedStream(parts, () => ended.abort(new Error('Reading ended')));
        },
        close: () => undefined,
      };
    },
  };
}

const MAX_LAYOUTS = 4;

function layoutOf({ table, layouts }: ListedFile, originSeconds: number, recordedAtMs?: number): FileLayout {
  const layout = layouts.get(originSeconds) ?? layOutFile(table, originSeconds, recordedAtMs);
  for (const oldest of layouts.size >= MAX_LAYOUTS ? layouts.keys().take(1) : []) layouts.delete(oldest);
  layouts.set(originSeconds, layout);
  return layout;
}

interface LoadedList {
  readonly segments: readonly Segment[];
  readonly digest: string;
  readonly fetch: SegmentFetch;
}

/** @param onChange when it turns out to be another list. @throws UnsupportedMp4 for one that is not complete */
async function loadList(request: OpenRequest, lists: LiveLists, onChange: () => Promise<void>): Promise<LoadedList> {
  const { track, limits, signal } = request;
  const isResolved = capabilitiesOf(track).isListedByResolving;
  const options = {
    ...request,
    rangeRequirement: { isRequired: false, chunks: new ChunkSizer(limits, track.chunkBytes) },
  };
  const load = track.window ? loadWindow(lists) : isResolved ? loadDash : loadHls;
  let first: Timeline | undefined;
  const locator = new TrackLocator({
    ...{ ...request, isResolved },
    load: async (at, until) => {
      const loaded = await load({ ...options, previous: undefined }, at, until);
      await ownTurn();
      first ??= loaded;
      if (isSameMedia(first, loaded)) return loaded;
      await onChange();
      throw new UpstreamError('Segment list has changed');
    },
  });
  const { value } = await locator.current(signal);
  if (!value.isComplete) throw new UnsupportedMp4('A list that is not complete');
  const { segments, isRounded } = value;
  const identity = segments.map(({ content: { range }, isGap, isDiscontinuity }) =>
    [range?.first, range?.last, isGap, isDiscontinuity].join(),
  );
  return { segments, digest: digestOf(identity), fetch: createSegmentFetch(request, { locator, isRounded }) };
}

/** @returns undefined when it is the table of another list */
async function readStored(
  stored: Buffer,
  { digest }: LoadedList,
): Promise<Pick<ListedFile, 'table' | 'digest'> | 'none' | undefined> {
  if (stored.length === 0) return 'none';
  const bytes = await decompress(stored, { maxOutputLength: MAX_UNPACKED_BYTES });
  const end = bytes.indexOf('\n');
  if (bytes.toString('latin1', 0, end) !== digest) return undefined;
  return { table: unpackTable(bytes.subarray(end + 1)), digest: digestOf([bytes]) };
}

interface FileRange {
  readonly header: Buffer;
  readonly offsets: readonly number[];
  readonly first: number;
  readonly last: number;
}

/**
 * The bytes of a range. While those of a place are taken, the next one is read, and as many small ones as make up `AHEAD_BYTES`.
 * @param readPlace undefined: there is no memory for one ahead of its turn
 */
async function* readParts(
  { header, offsets, first, last }: FileRange,
  readPlace: (index: number, isAhead: boolean) => Promise<Buffer | undefined>,
): AsyncGenerator<Buffer> {
  if (first < header.length) yield Buffer.from(header.subarray(first, last + 1));
  const from = Math.max(
    0,
    offsets.findLastIndex((offset) => offset <= first),
  );
  const isWanted = (index: number) => index + 1 < offsets.length && (offsets[index] ?? 0) <= last;
  const ahead: Promise<Buffer | undefined>[] = [];
  for (let index = from; isWanted(index); index += 1) {
    const start = offsets[index] ?? 0;
    const end = offsets[index + 1] ?? 0;
    const place = (await ahead.shift()) ?? (await readPlace(index, false));
    if (!place) throw new TypeError('A place was not read');
    const until = Math.min(place.length, last + 1 - start);
    for (let at = Math.max(0, first - start); at < until; at += CHUNK_BYTES) {
      // Readers own what they get, and the place is kept.
      yield Buffer.from(place.subarray(at, Math.min(at + CHUNK_BYTES, until)));
      for (let next = index + 1 + ahead.length; isWanted(next); next += 1) {
        const isSmall = ahead.length < MAX_AHEAD && (offsets[next + 1] ?? 0) - end <= AHEAD_BYTES;
        if (ahead.length > 0 && !isSmall) break;
        const reading = readPlace(next, true);
        reading.catch(() => undefined);
        ahead.push(reading);
      }
    }
  }
}

/** Aborted some time after a signal. */
function lingering(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  const onAbort = () => setTimeout(() => later.abort(signal.reason), LINGER_MS).unref();
  signal.addEventListener('abort', onAbort, { once: true });
  return later.signal;
}
