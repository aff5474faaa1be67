import { Readable } from 'node:stream';
import { createCache, createSemaphore, type Permit, type Semaphore } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  createTable,
  type Encoding,
  HEAD_BYTES,
  type ListedSegment,
  recognizeFormat,
  type SegmentFacts,
  type SegmentFormatName,
  type SegmentTable,
  segmentFormat,
  segmentRequest,
} from '@reelay/seekable-media/segment-file';
import { INSPECT_SEGMENT, READ_SEGMENT } from '@reelay/seekable-media/tasks';
import { durationOf, hasDiscontinuity, isSameSection, type Segment } from '@reelay/seekable-media/timeline';
import type { OpenRequest } from '../source.ts';
import type { FetchOptions, SegmentFetch, SegmentVersion } from './segment-fetch.ts';

/** Each of them is requested, of hosts that a playlist names: 16 hours in pieces of six seconds. */
const MAX_PROBED_SEGMENTS = 10_000;
/** Longer heads are those of segments that are small themselves, or hostile. */
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** Requests for the lists of one client, to any number of hosts. */
const PARALLEL_PROBES = 32;
/** After a host has reported overload, it is probed by one request at a time for so long. */
const SLOW_MS = 60_000;

/** Limits the small requests that tell sizes and times. */
export interface ProbeLimits {
  /** Waits for a turn of a host, and of the client. @returns what ends it */
  acquire(host: string, client: string, signal: AbortSignal): Promise<() => void>;
  onOverload(host: string): void;
}

export function createProbeLimits(perHost: number): ProbeLimits {
  const clients = createSemaphore({ maxPerClient: PARALLEL_PROBES });
  const permits = createSemaphore({ maxPerClient: perHost });
  const slow = createCache<string, Semaphore>({ maxEntries: 1000, maxAgeMs: SLOW_MS });
  return {
    async acquire(host, client, signal) {
      const held: Permit[] = [];
      const release = () => {
        for (const permit of held) permit.release();
      };
      try {
        held.push(await clients.acquire(client, signal));
        held.push(await permits.acquire(host, signal));
        const turn = await slow.get(host)?.acquire(host, signal);
        if (turn) held.push(turn);
        return release;
      } catch (error) {
        release();
        throw error;
      }
    },
    onOverload(host) {
      if (!slow.get(host)) slow.set(host, createSemaphore({ permits: 1 }));
    },
  };
}

/** Of a list that tells sizes and times, so many segments are requested, to see whether it tells the truth. */
const MAX_SAMPLES = 6;
/** By which times of the list may be wrong: half a picture. */
const MAX_DEVIATION_SECONDS = 0.02;

interface ProbeOptions extends Pick<OpenRequest, 'client' | 'parse' | 'signal'> {
  /** Durations of the list are whole seconds. */
  readonly isRounded?: boolean | undefined;
  readonly fetch: SegmentFetch;
  readonly limits: ProbeLimits;
}

/** What is known of a list. */
interface ReadTable {
  readonly table: SegmentTable;
  /** Of its segments. */
  readonly versions: readonly SegmentVersion[];
}

/**
 * The table of a complete list: one small request for each segment, several at once. Of a list that tells sizes and times itself, some
 * segments are requested.
 * @param segments with media, and with the gaps between them
 * @throws UnsupportedMp4 when they make no file
 */
export async function readTable(segments: readonly Segment[], options: ProbeOptions): Promise<ReadTable> {
  const listed = segments.filter(({ isGap }) => !isGap);
  const [first] = listed;
  if (!first || listed.length > MAX_PROBED_SEGMENTS) throw new UnsupportedMp4('No segments, or too many');
  const inspected = await inspectSegment(first, {}, options);
  const { format } = inspected;
  const { isRounded } = options;
  const gaps = gapsBefore(segments);
  const create = (found: readonly Inspected[]): ReadTable => ({
    table: createTable(
      format,
      found.map(({ facts, segmentBytes, version }, index): ListedSegment => {
        const { seconds, isDiscontinuity = false, isTimedByList } = listed[index] ?? first;
        const isTold = version.head === undefined;
        const gapSeconds = gaps[index] ?? 0;
        return { facts, segmentBytes, seconds, isDiscontinuity, isTimedByList, isTold, gapSeconds };
      }),
      isRounded,
    ),
    versions: found.map(({ version }) => version),
  });
  const read =
    (!isRounded && tellsSizes(segments) && (await tableOfList(listed, { inspected, create }, options))) ||
    create(await inspectAll(listed, inspected, options));
  if (segmentFormat(format).needsTrial) await trySegment(read, listed, options);
  return read;
}

/** Whether a list tells the size of each segment, and of one encoding. */
function tellsSizes(segments: readonly Segment[]): boolean {
  return segments.every(({ content: { range }, isGap }) => range && !isGap) && !hasDiscontinuity(segments);
}

interface FirstInspected {
  readonly inspected: Inspected;
  readonly create: (found: readonly Inspected[]) => ReadTable;
}

/** The table of a list that tells all. Undefined: some of its segments are other than it says, or its files have no validator. */
async function tableOfList(
  listed: readonly Segment[],
  { inspected, create }: FirstInspected,
  options: ProbeOptions,
): Promise<ReadTable | undefined> {
  const { format, facts } = inspected;
  const { encoding } = facts;
  const { boundFragment } = segmentFormat(format);
  if (!boundFragment || listed.length <= MAX_SAMPLES) return undefined;
  const untimed = { ...facts, startTime: undefined, endTime: undefined, audioBytes: undefined };
  // The first segment often lasts longer or shorter than its list says, by the delay of its pictures.
  const indexes = Array.from({ length: MAX_SAMPLES - 1 }, (_, index) =>
    Math.round(1 + (index * (listed.length - 2)) / (MAX_SAMPLES - 2)),
  );
  const samples = await Promise.all(
    listed.map((segment, index) =>
      indexes.includes(index) ? inspectSegment(segment, { format, encoding }, options) : undefined,
    ),
  );
  const { clockSeconds = Number.POSITIVE_INFINITY } = segmentFormat(format);
  const lateness = indexes.map((index) => {
    const late = mainSeconds(samples[index]?.facts) - durationOf(listed.slice(0, index));
    return late - mainSeconds(samples[1]?.facts) + durationOf(listed.slice(0, 1));
  });
  const isAsTold = samples.every(
    (sample) =>
      !sample || (sample.facts.startsWithSync && sample.facts.maxBytes <= boundFragment(sample.segmentBytes, encoding)),
  );
  const isTimed = lateness.every(
    // Timestamps wrap around after `clockSeconds`.
    (late) => Math.abs(late - (Math.round(late / clockSeconds) * clockSeconds || 0)) <= MAX_DEVIATION_SECONDS,
  );
  if (!isAsTold || !isTimed) return undefined;
  // What is not read is known by the file that it is a part of.
  const etags = new Map(
    samples.flatMap((sample, index) => (sample ? [[listed[index]?.content.url, sample.version.etag]] : [])),
  );
  const told = listed.map(({ content: { url, range } }, index): Inspected => {
    const segmentBytes = range ? range.last + 1 - range.first : 0;
    const facts = { ...untimed, maxBytes: boundFragment(segmentBytes, encoding) };
    const read = index === 0 ? inspected : samples[index];
    return read ?? { format, segmentBytes, facts, version: { etag: etags.get(url) } };
  });
  return told.every(({ version }) => version.etag) ? create(told) : undefined;
}

/** When the main track of a segment begins. NaN: it does not tell. */
function mainSeconds(facts: SegmentFacts | undefined): number {
  const track = facts?.encoding.tracks.find(({ kind }) => kind === facts.mainKind);
  return (facts?.startTime ?? Number.NaN) / (track?.timescale ?? 1);
}

async function inspectAll(
  listed: readonly Segment[],
  inspected: Inspected,
  options: ProbeOptions,
): Promise<readonly Inspected[]> {
  const { format } = inspected;
  /** Codec configuration since the last change that the list declares. */
  let encoding: Promise<Encoding> = Promise.resolve(inspected.facts.encoding);
  const probe = (segment: Segment, index: number, signal: AbortSignal): Promise<Inspected> => {
    const before = listed[index - 1];
    if (!before) return Promise.resolve(inspected);
    const probing = { ...options, signal };
    if (!segment.isDiscontinuity && isSameSection(segment.init, before.init))
      return encoding.then((known) => inspectSegment(segment, { format, encoding: known }, probing));
    const changed = inspectSegment(segment, { format }, probing);
    encoding = changed.then(({ facts }) => facts.encoding);
    // Its failure is that of the segment, which ends all.
    encoding.catch(() => undefined);
    return changed;
  };
  return Readable.from(listed.entries())
    .map(([index, segment]: [number, Segment], { signal = options.signal } = {}) => probe(segment, index, signal), {
      concurrency: PARALLEL_PROBES,
      signal: options.signal,
    })
    .toArray();
}

/**
 * Reads a segment as it will be sent: the second one, which begins with the rest of the first where media is cut between
 * them.
 * @throws UnsupportedMp4
 */
async function trySegment(
  { table, versions }: ReadTable,
  listed: readonly Segment[],
  options: ProbeOptions,
): Promise<void> {
  const { fetch, parse, client, signal } = options;
  const index = Math.min(1, listed.length - 1);
  const [segment, entry] = [listed[index], table.entries[index]];
  if (!segment || !entry) return;
  const known = { bytes: entry.segmentBytes, version: versions[index] ?? {} };
  const { parts } = await inTurn(segment, options, (fetching) => fetch.whole(segment, known, fetching));
  await parse(READ_SEGMENT, segmentRequest(table, index, parts), { client, signal });
}

/** Reads from a segment within the request limit of its host. Parsing is not limited. */
async function inTurn<T>(
  { content }: Segment,
  { limits, client, signal }: ProbeOptions,
  read: (options: FetchOptions) => Promise<T>,
): Promise<T> {
  const host = URL.parse(content.url)?.host ?? '';
  const release = await limits.acquire(host, client, signal);
  return read({ signal, onOverload: () => limits.onOverload(host) }).finally(release);
}

/** Seconds of gaps before each segment with media. */
function gapsBefore(segments: readonly Segment[]): readonly number[] {
  let seconds = 0;
  return segments.flatMap((segment) => {
    const before = seconds;
    seconds = segment.isGap ? seconds + segment.seconds : 0;
    return segment.isGap ? [] : [before];
  });
}

interface Known {
  readonly format?: SegmentFormatName;
  readonly encoding?: Encoding;
}

interface Inspected {
  readonly format: SegmentFormatName;
  readonly facts: SegmentFacts;
  readonly segmentBytes: number;
  readonly version: SegmentVersion;
}

async function inspectSegment(
  segment: Segment,
  { format: known, encoding }: Known,
  options: ProbeOptions,
): Promise<Inspected> {
  const { fetch, parse, client, signal } = options;
  const init = encoding ? undefined : await inTurn(segment, options, (fetching) => fetch.init(segment, fetching));
  for (let wanted = HEAD_BYTES; wanted <= MAX_HEAD_BYTES; ) {
    const { bytes, isWhole, size, version } = await inTurn(segment, options, (fetching) =>
      fetch.head(segment, wanted, fetching),
    );
    if (size === undefined) throw new UnsupportedMp4('A segment of unknown size');
    const format = known ?? recognizeFormat(bytes);
    if (!format) throw new UnsupportedMp4('Segments of another format');
    const head = { bytes, isWhole, size, init, encoding };
    const facts = await parse(INSPECT_SEGMENT, { format, head }, { client, signal });
    if (!('neededBytes' in facts)) return { format, segmentBytes: size, facts, version };
    if (isWhole) throw new UnsupportedMp4('A segment without media');
    wanted = Math.max(facts.neededBytes, wanted + 1);
  }
  throw new UnsupportedMp4('A segment whose media begins too late');
}
