import { Readable } from 'node:stream';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  createTable,
  type Encoding,
  HEAD_BYTES,
  type ListedSegment,
  placeRequest,
  recognizeFormat,
  type SegmentFacts,
  type SegmentFormatName,
  type SegmentTable,
  segmentFormat,
  startSecondsOf,
} from '@reelay/seekable-media/segment-file';
import { isSameSection, type Segment } from '@reelay/seekable-media/timeline';
import { createCache, createSemaphore, type Semaphore } from '../../../core/concurrency/index.ts';
import { INSPECT_SEGMENT, MAKE_PLACE, parse } from '../../../core/parsing/index.ts';
import type { FetchOptions, SegmentFetch } from './segment-fetch.ts';

/** Each of them is requested, of hosts that a playlist names: 16 hours in pieces of six seconds. */
const MAX_PROBED_SEGMENTS = 10_000;
/** Longer heads are those of segments that are small themselves, or hostile. */
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** Requests of one list, to any number of hosts. */
const PARALLEL_PROBES = 32;
/** After a host has reported overload, it is probed by one request at a time for so long. */
const SLOW_MS = 60_000;

/** Limits the small requests that tell sizes and times. */
export interface ProbeLimits {
  /** Waits for a turn. @returns what ends it */
  acquire(host: string, signal: AbortSignal): Promise<() => void>;
  onOverload(host: string): void;
}

export function createProbeLimits(perHost: number): ProbeLimits {
  const permits = createSemaphore({ maxPerClient: perHost });
  const slow = createCache<string, Semaphore>({ maxEntries: 1000, maxAgeMs: SLOW_MS });
  return {
    async acquire(host, signal) {
      const permit = await permits.acquire(host, signal);
      const turn = await slow
        .get(host)
        ?.acquire(host, signal)
        .catch((error) => {
          permit.release();
          throw error;
        });
      return () => {
        turn?.release();
        permit.release();
      };
    },
    onOverload(host) {
      if (!slow.get(host)) slow.set(host, createSemaphore({ permits: 1 }));
    },
  };
}

interface ProbeOptions {
  readonly fetch: SegmentFetch;
  readonly limits: ProbeLimits;
  readonly client: string;
  readonly signal: AbortSignal;
}

/**
 * The table of a complete list: one small request for each segment, several at once.
 * @param segments with media, and with the gaps between them
 * @throws UnsupportedMp4 when they make no file
 */
export async function readTable(segments: readonly Segment[], options: ProbeOptions): Promise<SegmentTable> {
  const listed = segments.filter(({ isGap }) => !isGap);
  const [first] = listed;
  if (!first || listed.length > MAX_PROBED_SEGMENTS) throw new UnsupportedMp4('No segments, or too many');
  const { format, ...inspected } = await inspectSegment(first, {}, options);
  /** What the segments have in common since the last change that the list declares. */
  let encoding: Promise<Encoding> = Promise.resolve(inspected.facts.encoding);
  const probe = (segment: Segment, index: number, signal: AbortSignal): Promise<Inspected> => {
    const before = listed[index - 1];
    if (!before) return Promise.resolve({ format, ...inspected });
    const probing = { ...options, signal };
    if (!segment.isDiscontinuity && isSameSection(segment.init, before.init))
      return encoding.then((known) => inspectSegment(segment, { format, encoding: known }, probing));
    const changed = inspectSegment(segment, { format }, probing);
    encoding = changed.then(({ facts }) => facts.encoding);
    // Its failure is that of the segment, which ends all.
    encoding.catch(() => undefined);
    return changed;
  };
  const found = await Readable.from(listed.entries())
    .map(([index, segment]: [number, Segment], { signal = options.signal } = {}) => probe(segment, index, signal), {
      concurrency: PARALLEL_PROBES,
      signal: options.signal,
    })
    .toArray();
  const gaps = gapsBefore(segments);
  const entries = found.map(({ facts, segmentBytes }: Inspected, index): ListedSegment => {
    const { seconds, isDiscontinuity = false } = listed[index] ?? first;
    return { facts, segmentBytes, seconds, isDiscontinuity, gapSeconds: gaps[index] ?? 0 };
  });
  const table = createTable(format, entries);
  if (segmentFormat(format).needsTrial) await tryPlace(table, listed, options);
  return table;
}

/**
 * Makes a place as it will be sent: that of the second segment, which begins with the rest of the first where media is cut between
 * them.
 * @throws UnsupportedMp4
 */
async function tryPlace(
  table: SegmentTable,
  listed: readonly Segment[],
  { fetch, limits, client, signal }: ProbeOptions,
): Promise<void> {
  const index = Math.min(1, listed.length - 1);
  const [segment, place] = [listed[index], table.places[index]];
  if (!segment || !place) return;
  const host = hostOf(segment);
  const release = await limits.acquire(host, signal);
  try {
    const options: FetchOptions = { signal, onOverload: () => limits.onOverload(host) };
    const bytes = await fetch.whole(segment, place.segmentBytes, options);
    await parse(MAKE_PLACE, placeRequest(table, startSecondsOf(table), { index, segment: bytes }), { client, signal });
  } finally {
    release();
  }
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

const hostOf = ({ content }: Segment): string => URL.parse(content.url)?.host ?? '';

interface Known {
  readonly format?: SegmentFormatName;
  readonly encoding?: Encoding;
}

interface Inspected {
  readonly format: SegmentFormatName;
  readonly facts: SegmentFacts;
  readonly segmentBytes: number;
}

async function inspectSegment(
  segment: Segment,
  { format: known, encoding }: Known,
  { fetch, limits, client, signal }: ProbeOptions,
): Promise<Inspected> {
  const host = hostOf(segment);
  const options: FetchOptions = { signal, onOverload: () => limits.onOverload(host) };
  /** Parsing what has been read needs no turn. */
  const inTurn = async <T>(read: () => Promise<T>): Promise<T> => {
    const release = await limits.acquire(host, signal);
    return read().finally(release);
  };
  const init = encoding ? undefined : await inTurn(() => fetch.init(segment, options));
  for (let wanted = HEAD_BYTES; wanted <= MAX_HEAD_BYTES; ) {
    const { bytes, isWhole, size } = await inTurn(() => fetch.head(segment, wanted, options));
    if (size === undefined) throw new UnsupportedMp4('A segment of unknown size');
    const format = known ?? recognizeFormat(bytes);
    if (!format) throw new UnsupportedMp4('Segments of another format');
    const head = { bytes, isWhole, size, init, encoding };
    const facts = await parse(INSPECT_SEGMENT, { format, head }, { client, signal });
    if (!('neededBytes' in facts)) return { format, segmentBytes: size, facts };
    if (isWhole) throw new UnsupportedMp4('A segment without media');
    wanted = Math.max(facts.neededBytes, wanted + 1);
  }
  throw new UnsupportedMp4('A segment whose media begins too late');
}
