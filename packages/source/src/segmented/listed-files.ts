import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import { createCache, createSemaphore, createSingleFlight } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { FORMAT_NAMES, packTable, type SegmentTable, unpackTable } from '@reelay/seekable-media/segment-file';
import type { Segment } from '@reelay/seekable-media/timeline';
import { digestOf } from '@reelay/seekable-media/values';
import type { Layout } from '@reelay/seekable-media/virtual-mp4';
import { UpstreamError } from '../errors.ts';
import { type Name, nameOf } from '../names.ts';
import { type FileTimeline, type ListRequest, openList } from './load-timeline.ts';
import { createProbeLimits, readTable } from './read-table.ts';
import {
  createSegmentFetch,
  SegmentChanged,
  type SegmentFetch,
  type SegmentVersion,
  VERSION_CHARACTERS,
} from './segment-fetch.ts';

/** Keeps the tables of a track for other processes, by their names. */
interface TableStore {
  get(name: Name): Promise<Buffer | undefined>;
  /** @returns what is there, which another process may have put before */
  put(name: Name, bytes: Buffer): Promise<Buffer>;
  drop(name: Name): Promise<void>;
}

/** A request for the segment table of a track. */
export interface TableRequest extends ListRequest {
  /** Absent: this process makes it for itself. */
  readonly tables?: TableStore | undefined;
}

/** A list with its table. */
export interface ListedFile {
  readonly table: SegmentTable;
  /** The same, as `packTable` has made it. */
  readonly packed: Buffer;
  /** Name of the list in the version of its table: the same in every process. */
  readonly name: Name;
  /** Version of the segment with an index, as the table has it. */
  readonly versionOf: (index: number) => SegmentVersion;
  readonly segments: readonly Segment[];
  readonly fetch: SegmentFetch;
  /** Layouts of its file, by what distinguishes them: the audio alone, and when it was recorded. */
  readonly layouts: Map<string, Layout>;
}

/** The tables of complete lists, which are made once for all processes. */
interface ListedFiles {
  /**
   * Returns the stored table, or builds it with small requests.
   * @param signal of who wants it
   * @param isDetached that of a small list is made to the end although they leave, and of a large one for some seconds. @default false
   * @returns `none`: the list makes no file, or could not be read
   */
  find(request: TableRequest, signal: AbortSignal, isDetached?: boolean): Promise<ListedFile | 'none'>;
  /** Drops a table that does not fit its list any more, for the reason that was found. */
  forget(request: TableRequest, reason: UnsupportedMp4 | UpstreamError): Promise<void>;
}

/** With the names of tables and of their files: another form of them, or other bytes of their files. */
const VERSION = 6;
const MAX_MAKING_MS = 3 * 60_000;
/** Without a client, a list of so many segments costs no more requests for long. */
const MAX_DETACHED = 500;
const DETACHED_MS = 2_000;
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

/** What is known of a list whose table was wrong. */
interface Change {
  /** Makes another name of the next table, in which the change may not show. */
  readonly nonce: string;
  /** Segments of the same bytes had other ETags, which servers of one source may give them: they are not compared any more. */
  readonly hasOtherEtags: boolean;
}

const CHANGES = { maxEntries: 1000, maxAgeMs: 24 * 60 * 60_000 };

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

export function createListedFiles(probesPerHost: number): ListedFiles {
  const limits = createProbeLimits(probesPerHost);
  const makers = createSemaphore({ permits: 8, maxPerClient: 2 });
  const files = createCache<Name, ListedFile | 'none'>({
    ...FILES,
    weightOf: (file) => (file === 'none' ? 1 : file.segments.length),
  });
  const flights = createSingleFlight<ListedFile | 'none', Name>();
  const changes = createCache<Name, Change>(CHANGES);
  /** Of lists that are being made. */
  const lengths = createCache<Name, number>({ maxEntries: FILES.maxEntries, maxAgeMs: MAX_MAKING_MS });

  const idOf = ({ track }: TableRequest) => nameOf([{ track }], `table ${VERSION} of ${FORMAT_NAMES}`);

  const forget = async (request: TableRequest, reason: UnsupportedMp4 | UpstreamError): Promise<void> => {
    const { track, tables, log } = request;
    const id = idOf(request);
    const isUnsupported = reason instanceof UnsupportedMp4;
    if (isUnsupported) files.set(id, 'none', Date.now() + NONE_MS);
    else files.delete(id);
    if (reason instanceof SegmentChanged) {
      const hasOtherEtags = reason.hasSameHead || changes.get(id)?.hasOtherEtags === true;
      changes.set(id, { nonce: randomUUID(), hasOtherEtags });
    }
    try {
      await tables?.drop(id);
      if (isUnsupported) await tables?.put(id, Buffer.alloc(0));
    } catch (error) {
      log.warn('A table of segments could not be dropped', { track: track.id, error });
    }
  };

  const make = async (request: TableRequest, list: LoadedList): Promise<Buffer> => {
    const { client, parse, signal } = request;
    const permit = await makers.acquire(client, signal);
    try {
      const { segments, fetch, isRounded, digest } = list;
      const read = async () => {
        const { table, versions } = await readTable(segments, { fetch, isRounded, limits, parse, client, signal });
        return { table: packTable(table), versions };
      };
      const { table, versions = [] } = list.table ? { table: list.table } : await read();
      const { nonce, hasOtherEtags = false } = changes.get(idOf(request)) ?? {};
      const head: RecordHead = { digest, nonce, ...packVersions(versions, !hasOtherEtags) };
      const packed = await compress(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), table]));
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
    const id = idOf(request);
    const list = await loadList(request, (error) => forget(request, error));
    lengths.set(id, list.segments.length);
    let stored = await tables?.get(id);
    let known = stored && (await readStored(stored, list, request));
    if (!known) {
      if (stored) await tables?.drop(id);
      const made = await make(request, list);
      stored = (await tables?.put(id, made)) ?? made;
      known = await readStored(stored, list, request);
    }
    if (!known) throw new UpstreamError('Segment list has changed');
    if (known === 'none') return known;
    const segments = list.segments.filter(({ isGap }) => !isGap);
    return { ...known, segments, fetch: list.fetch, layouts: new Map() };
  };

  /** Aborted some seconds after a signal, unless the list is a small one. */
  const detached = (id: Name, signal: AbortSignal): AbortSignal => {
    const left = new AbortController();
    const leave = () => (lengths.get(id) ?? MAX_DETACHED) >= MAX_DETACHED && left.abort(signal.reason);
    signal.addEventListener('abort', () => setTimeout(leave, DETACHED_MS).unref(), { once: true });
    return left.signal;
  };

  const find: ListedFiles['find'] = (request, signal, isDetached = false) => {
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
    return flights(id, make, isDetached ? detached(id, signal) : signal);
  };

  return { find, forget };
}

interface LoadedList extends Partial<Pick<FileTimeline, 'table' | 'isRounded'>> {
  readonly segments: readonly Segment[];
  readonly digest: string;
  readonly fetch: SegmentFetch;
}

/** @param onChange when it turns out to be another list. @throws UnsupportedMp4 for one that is not complete */
async function loadList(request: TableRequest, onChange: (error: UpstreamError) => Promise<void>): Promise<LoadedList> {
  const list = await openList(request, { onChange });
  const { segments, isComplete, isRounded, table, file } = list.timeline;
  if (!isComplete) throw new UnsupportedMp4('A list that is not complete');
  const identity = segments.map(({ content: { range }, isGap, isDiscontinuity }) =>
    [range?.first, range?.last, isGap, isDiscontinuity].join(),
  );
  return {
    segments,
    digest: digestOf([...identity, file?.entity.size, file?.validator]),
    fetch: createSegmentFetch(request, list),
    table,
    isRounded,
  };
}

/** What stands before a table. */
interface RecordHead extends Partial<PackedVersions> {
  /** Digest of the list. */
  readonly digest: string;
  /** As in `Change`. */
  readonly nonce: string | undefined;
}

/** @returns undefined when it is the table of another list */
async function readStored(
  stored: Buffer,
  { digest }: LoadedList,
  { track }: TableRequest,
): Promise<Pick<ListedFile, 'table' | 'packed' | 'name' | 'versionOf'> | 'none' | undefined> {
  if (stored.length === 0) return 'none';
  const bytes = await decompress(stored, { maxOutputLength: MAX_UNPACKED_BYTES });
  const end = bytes.indexOf('\n');
  const { heads = '', etags = '', ...head }: RecordHead = JSON.parse(bytes.toString('latin1', 0, end));
  if (head.digest !== digest) return undefined;
  const packed = bytes.subarray(end + 1);
  return {
    table: unpackTable(packed),
    packed,
    name: nameOf([{ track, version: digestOf(bytes) }], `list ${VERSION}`),
    versionOf: (index) => unpackVersion({ heads, etags }, index),
  };
}

/** Texts of as many characters for each segment. */
interface PackedVersions {
  readonly heads: string;
  readonly etags: string;
}

const packVersions = (versions: readonly SegmentVersion[], hasEtags: boolean): PackedVersions => ({
  heads: versions.map(({ head = '' }) => head.padEnd(VERSION_CHARACTERS)).join(''),
  etags: hasEtags ? versions.map(({ etag = '' }) => etag.padEnd(VERSION_CHARACTERS)).join('') : '',
});

function unpackVersion({ heads, etags }: PackedVersions, index: number): SegmentVersion {
  const at = (text: string) =>
    text.slice(index * VERSION_CHARACTERS, (index + 1) * VERSION_CHARACTERS).trim() || undefined;
  return { head: at(heads), etag: at(etags) };
}
