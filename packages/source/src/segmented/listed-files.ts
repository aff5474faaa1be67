import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import { createCache, createSemaphore, createSingleFlight } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type FileLayout,
  FORMAT_NAMES,
  packTable,
  type SegmentTable,
  unpackTable,
} from '@reelay/seekable-media/segment-file';
import type { Segment } from '@reelay/seekable-media/timeline';
import { digestOf } from '@reelay/seekable-media/values';
import { UpstreamError } from '../errors.ts';
import { type FileTimeline, type ListRequest, openList } from './load-timeline.ts';
import { createProbeLimits, readTable } from './read-table.ts';
import { createSegmentFetch, type SegmentFetch } from './segment-fetch.ts';

/** Keeps the tables of a track for other processes, by their names. */
interface TableStore {
  get(name: string): Promise<Buffer | undefined>;
  /** @returns what is there, which another process may have put before */
  put(name: string, bytes: Buffer): Promise<Buffer>;
  drop(name: string): Promise<void>;
}

/** What a table is made of. */
export interface TableRequest extends ListRequest {
  /** Absent: this process makes it for itself. */
  readonly tables?: TableStore | undefined;
}

/** A list with its table. */
export interface ListedFile {
  readonly table: SegmentTable;
  /** Names what is stored: the same in every process. */
  readonly digest: string;
  readonly segments: readonly Segment[];
  readonly fetch: SegmentFetch;
  /** By the time that they begin at, a pair may begin earlier than one of its files, and by whether they are of the audio alone. */
  readonly layouts: Map<string, FileLayout>;
}

/** The tables of complete lists, which are made once for all processes. */
interface ListedFiles {
  /**
   * Makes the table, unless it is there.
   * @param signal of who wants it. Absent: it is made to the end
   * @returns `none`: the list makes no file, or could not be read
   */
  find(request: TableRequest, signal?: AbortSignal): Promise<ListedFile | 'none'>;
  /**
   * Drops a table that does not fit its list any more.
   * @param isUnsupported its segments make no file
   */
  forget(request: TableRequest, isUnsupported: boolean): Promise<void>;
}

/** With the names of tables: another form of them, or other bytes of their files. */
const VERSION = 4;
const MAX_MAKING_MS = 3 * 60_000;
/** A list whose packed table has more is streamed without a length. */
const MAX_TABLE_BYTES = 350 * 1024;
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

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

export function createListedFiles(probesPerHost: number): ListedFiles {
  const limits = createProbeLimits(probesPerHost);
  const makers = createSemaphore({ permits: 8, maxPerClient: 2 });
  const files = createCache<string, ListedFile | 'none'>({
    ...FILES,
    weightOf: (file) => (file === 'none' ? 1 : file.segments.length),
  });
  const flights = createSingleFlight<ListedFile | 'none'>();

  const idOf = ({ track: { id, url } }: TableRequest) => id ?? url;
  const nameOf = (request: TableRequest) => digestOf([VERSION, FORMAT_NAMES, idOf(request)]);

  const forget = async (request: TableRequest, isUnsupported: boolean): Promise<void> => {
    const { track, tables, log } = request;
    if (isUnsupported) files.set(idOf(request), 'none', Date.now() + NONE_MS);
    else files.delete(idOf(request));
    try {
      await tables?.drop(nameOf(request));
      if (isUnsupported) await tables?.put(nameOf(request), Buffer.alloc(0));
    } catch (error) {
      log.warn('A table of segments could not be dropped', { track: track.id, error });
    }
  };

  const make = async (request: TableRequest, list: LoadedList): Promise<Buffer> => {
    const { client, parse, signal } = request;
    const permit = await makers.acquire(client, signal);
    try {
      const { segments, fetch, isRounded } = list;
      const table =
        list.table ?? packTable(await readTable(segments, { fetch, isRounded, limits, parse, client, signal }));
      const packed = await compress(Buffer.concat([Buffer.from(`${list.digest}\n`), table]));
      return packed.length > MAX_TABLE_BYTES ? Buffer.alloc(0) : packed;
    } catch (error) {
      if (!(error instanceof UnsupportedMp4)) throw error;
      request.log.info('A list of segments makes no file', { track: request.track.id, reason: error.message });
      return Buffer.alloc(0);
    } finally {
      permit.release();
    }
  };

  const load = async (request: TableRequest): Promise<ListedFile | 'none'> => {
    const { tables } = request;
    const name = nameOf(request);
    const list = await loadList(request, () => forget(request, false));
    let stored = await tables?.get(name);
    let known = stored && (await readStored(stored, list));
    if (!known) {
      if (stored) await tables?.drop(name);
      const made = await make(request, list);
      stored = (await tables?.put(name, made)) ?? made;
      known = await readStored(stored, list);
    }
    if (!known) throw new UpstreamError('Segment list has changed');
    if (known === 'none') return known;
    const segments = list.segments.filter(({ isGap }) => !isGap);
    return { ...known, segments, fetch: list.fetch, layouts: new Map() };
  };

  const find = (request: TableRequest, signal?: AbortSignal): Promise<ListedFile | 'none'> => {
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
        request.log.info('A list of segments could not be read', { track: request.track.id, error });
        return files.set(id, 'none', Date.now() + (error instanceof UnsupportedMp4 ? NONE_MS : FAILED_MS));
      }
    };
    return flights(id, make, signal);
  };

  return { find, forget };
}

interface LoadedList extends Partial<Pick<FileTimeline, 'table' | 'isRounded'>> {
  readonly segments: readonly Segment[];
  readonly digest: string;
  readonly fetch: SegmentFetch;
}

/** @param onChange when it turns out to be another list. @throws UnsupportedMp4 for one that is not complete */
async function loadList(request: TableRequest, onChange: () => Promise<void>): Promise<LoadedList> {
  const list = await openList(request, { onChange });
  const { segments, isComplete, isRounded, table, entity } = list.timeline;
  if (!isComplete) throw new UnsupportedMp4('A list that is not complete');
  const identity = segments.map(({ content: { range }, isGap, isDiscontinuity }) =>
    [range?.first, range?.last, isGap, isDiscontinuity].join(),
  );
  const fetch = createSegmentFetch(request, list);
  return { segments, digest: digestOf([...identity, entity]), fetch, table, isRounded };
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
