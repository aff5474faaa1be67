import { setTimeout as sleep } from 'node:timers/promises';
import { abortable, createSemaphore, createSingleFlight } from '@reelay/concurrency';
import { releaseBuffer } from '@reelay/guarded-fetch';
import {
  type FragmentSamples,
  parseInitTracks,
  recycle,
  runParts,
  UnsupportedMp4,
  weighSamples,
} from '@reelay/seekable-media/isobmff';
import { createVirtualFile, type FragmentSource, type ListReader } from '@reelay/seekable-media/reading';
import { audioTable, segmentRequest } from '@reelay/seekable-media/segment-file';
import { READ_SEGMENT } from '@reelay/seekable-media/tasks';
import type { Segment } from '@reelay/seekable-media/timeline';
import { createLayout, LAYOUT_VERSION, type Layout } from '@reelay/seekable-media/virtual-mp4';
import type { ByteStore, StoredBytes } from '../byte-store.ts';
import { UpstreamError } from '../errors.ts';
import { fileStreams } from '../memory.ts';
import { type Name, nameOf } from '../names.ts';
import type { FileSource } from '../source.ts';
import type { TrackFile } from '../track.ts';
import { createListedFiles, type ListedFile, type TableRequest } from './listed-files.ts';
import { type KnownSegment, MAX_SAMPLED_BYTES, type Samples, SegmentChanged } from './segment-fetch.ts';

/** Options of `find`. */
export interface FileWish {
  /** Finishes the table of a short list even if the client disconnects, as after HEAD. @default false */
  readonly isDetached?: boolean;
  /** Waits for the result, because no other output is possible. @default false: for `maxTableWaitMs` */
  readonly isNeeded?: boolean;
}

/** Serves complete segment lists as MP4 files of known size, by a table that is made once for all processes. */
export interface SegmentFiles {
  /**
   * The file that a list forms. Undefined: it forms none, or its table is not ready within `maxTableWaitMs`. A
   * stream that does not wait for it any longer still wants it, until its client leaves.
   */
  find(request: TableRequest, wish?: FileWish): Promise<TrackFile | undefined>;
  /** @throws UpstreamError when the list makes no such file any more */
  open(request: TableRequest, file: TrackFile, recordedAtMs?: number): Promise<FileSource>;
}

/** A player asks for the next subsegment over another connection, once it has closed the one before. */
const LINGER_MS = 2_000;
const PROBES_PER_HOST = 8;

export interface SegmentFilesOptions {
  /** Bytes of the segments that streams use at a time. */
  readonly memoryBytes: number;
  /** Keeps segments for other streams. */
  readonly store: ByteStore;
  /** Small requests to one host at once, by which tables are made. @default 8 */
  readonly probesPerHost?: number | undefined;
}

export function createSegmentFiles(options: SegmentFilesOptions): SegmentFiles {
  const { memoryBytes, store, probesPerHost = PROBES_PER_HOST } = options;
  const listed = createListedFiles(probesPerHost);
  const memory = createSemaphore({ permits: memoryBytes, maxPerClient: Math.ceil(memoryBytes / 2) });
  const reads = createSingleFlight<CachedSegment, Name>();
  /** Counts entries that were read: one that was there before a stream may be of an earlier version of a source that does not tell. */
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
      return { isAudioSized: audioTable(file.table) !== undefined };
    },

    async open(request, { isAudioAlone }, recordedAtMs) {
      const file = await listed.find(request, request.signal);
      const table = file !== 'none' && (isAudioAlone ? audioTable(file.table) : file.table);
      if (!table) throw new UpstreamError('The list of segments makes no file any more');
      const { segments, fetch, versionOf, packed } = file;
      const layout = layoutOf({ ...file, table }, recordedAtMs);
      const { client, kind, parse } = request;
      const since = order;

      /** What a segment is, by the table. @throws UpstreamError for one that it is not any more, and what `use` throws */
      const withSegment = async <T>(
        index: number,
        use: (segment: Segment, known: KnownSegment) => Promise<T>,
      ): Promise<T> => {
        const segment = segments[index];
        const { segmentBytes = 0, encoding = 0 } = table.entries[index] ?? {};
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
      const make = (index: number, signal: AbortSignal): Promise<CachedSegment> =>
        withSegment(index, async (segment, known) => {
          const { parts, samples } = await fetch.whole(segment, known, { signal });
          const packed = await parse(READ_SEGMENT, segmentRequest(table, index, parts), { client, signal });
          parts.forEach(releaseBuffer);
          order += 1;
          return new CachedSegment(packed, samples, order);
        });
      /** Compares a segment that another stream has read with its source, before what is read now is kept beside it. */
      const compare = async (index: number, signal: AbortSignal): Promise<void> => {
        const cached = store.get<CachedSegment>(keyOf(index));
        if (!cached || cached.order > since) return;
        await withSegment(index, (segment, known) => fetch.compare(segment, known, cached.samples, { signal }));
      };
      const keyOf = (index: number) => nameOf([file.name], 'segment', [index, table.kinds]);
      const readSegment = async (index: number, signal: AbortSignal): Promise<CachedSegment> => {
        const key = keyOf(index);
        const load = async (shared: AbortSignal) => {
          const read = store.get<CachedSegment>(key);
          if (read) return read;
          const beside = [index - 1, index + 1].map((other) => compare(other, shared));
          const [cached] = await Promise.all([make(index, shared), ...beside]);
          return store.set(key, cached);
        };
        return store.get<CachedSegment>(key) ?? abortable(reads(key, load, lingering(signal)), signal);
      };

      const open = (signal: AbortSignal): ListReader => ({
        memory: {
          // The larger size: the segment is in memory before the samples read from it.
          bytesOf: (index) => Math.max(table.entries[index]?.bytes ?? 0, table.entries[index]?.segmentBytes ?? 0),
          acquire: (bytes) => memory.acquire(client, signal, bytes),
          tryAcquire: (bytes) => memory.tryAcquire(client, bytes),
        },
        async take({ index }) {
          let found = await readSegment(index, signal);
          while (found.isFreed) found = await readSegment(index, signal);
          const cached = found;
          cached.readers += 1;
          return {
            runs: cached.packed.runs,
            parts: (run, { first, end }) => runParts(cached.packed, run, first, end),
            release(isPassed) {
              cached.readers -= 1;
              if (isPassed) store.pass(keyOf(index), cached);
            },
          };
        },
      });
      const name = nameOf([file.name], 'mp4', [LAYOUT_VERSION, layout.fingerprint]);
      const fragments: FragmentSource = { index: { table: packed, isAudioAlone }, version: name, open };
      return {
        needsRemux: false,
        size: layout.size,
        validator: name,
        fragments,
        headerBytes: layout.mediaStart,
        read: fileStreams(
          createVirtualFile({ layout, version: name, lists: [fragments], parse, client, openSource: noFile }),
        ),
        close: () => undefined,
      };
    },
  };
}

const noFile = () => Promise.reject(new TypeError('A list of segments is no file'));

/** The samples of a segment in memory. */
class CachedSegment implements StoredBytes {
  readonly packed: FragmentSamples;
  /** Of the segment itself. */
  readonly samples: Samples;
  /** When it was read, after how many others. */
  readonly order: number;
  readonly bytes: number;
  /** Streams that hold it. */
  readers = 0;
  /** Its memory is that of another one. */
  isFreed = false;

  constructor(packed: FragmentSamples, samples: Samples, order: number) {
    this.packed = packed;
    this.samples = samples;
    this.order = order;
    this.bytes = weighSamples(packed) + MAX_SAMPLED_BYTES;
  }

  /** Reuses the memory: large garbage triggers frequent collections. */
  onFree(): void {
    if (this.readers > 0) return;
    this.isFreed = true;
    recycle(this.packed);
  }
}

const MAX_LAYOUTS = 4;

function layoutOf({ table, layouts }: Pick<ListedFile, 'table' | 'layouts'>, recordedAtMs?: number): Layout {
  const id = `${table.kinds} ${recordedAtMs}`;
  const layout = layouts.get(id) ?? createLayout([{ table }], { recordedAtMs });
  for (const oldest of layouts.size >= MAX_LAYOUTS ? layouts.keys().take(1) : []) layouts.delete(oldest);
  layouts.set(id, layout);
  return layout;
}

/** Aborts `LINGER_MS` after `signal`, so that the next connection of a player can join the read. */
function lingering(signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  const onAbort = () => setTimeout(() => later.abort(signal.reason), LINGER_MS).unref();
  signal.addEventListener('abort', onAbort, { once: true });
  return later.signal;
}
