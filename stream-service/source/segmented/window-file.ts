import { createSemaphore, ownTurn } from '../../../core/concurrency/index.ts';
import { UnsupportedRendition, UpstreamError } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import {
  indexContent,
  isSameDescription,
  parseInitTracks,
  rebaseFragment,
  UnsupportedMp4,
} from '../../../core/media/isobmff/index.ts';
import {
  inspectSegment,
  MOOF_AHEAD,
  type PlacedSegment,
  placeSegments,
  type SegmentFacts,
  writeWindowHeader,
} from '../../../core/media/mp4-window/index.ts';
import {
  durationOf,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import { type Resource, segmentUrl, type Track } from '../../../core/state/index.ts';
import { fetchBuffer } from '../memory.ts';
import { AdaptiveParallelism } from '../read-ahead-limits.ts';
import { type Filter, ReadAheadStream } from '../read-ahead-stream.ts';
import type { FileSource, OpenOptions, OpenRequest, Source } from '../source.ts';
import { TrackLocator } from '../track-locator.ts';
import { ChunkSizer, type UpstreamTarget } from '../upstream-request.ts';
import { createBoxFilter, type DiscontinuityFilter, withType } from './discontinuity-filter.ts';
import { type LiveList, type LiveLists, loadWindow } from './live-lists.ts';
import { SegmentScheduler } from './segment-scheduler.ts';
import { openSegments } from './segmented-source.ts';
import { SlicedStream } from './sliced-stream.ts';

/** What is known of a window before it is read. */
export interface WindowFacts {
  readonly durationSeconds: number;
  /** Epoch milliseconds, where the list states it. */
  readonly recordedAtMs: number | undefined;
  /** Time of the first sample on the clock of its segments, seconds. Undefined: it is no file whose every byte is known. */
  readonly fileOrigin: number | undefined;
}

/** @throws NotFound when its segments are no longer held, and what reading them throws */
export type OpenWindow = (resource: Resource, track: Track, options?: OpenOptions) => Promise<WindowFacts>;

/** The first bytes of a segment of a few seconds have all of its `moof`. */
const HEAD_BYTES = 16 * 1024;
const MAX_MOOF_BYTES = 1024 * 1024;
const MAX_INIT_BYTES = 4 * 1024 * 1024;
/** Of more segments, no file is made: each is requested once before its length is known. */
const MAX_FILE_SEGMENTS = 2000;
const PARALLEL_REQUESTS = 6;
/** Initialization sections that are kept of a list: an advertisement may have its own. */
const MAX_INITS = 32;
const KINDS = ['vide', 'soun'];

/** Reads the window of a track as a file or as segments. @throws NotFound, UpstreamError, UrlExpired */
export const openWindow = (request: OpenRequest, lists: LiveLists): Promise<Source> =>
  request.track.window?.fileOrigin === undefined
    ? openSegments(request, loadWindow(lists))
    : openWindowFile(request, request.track.window.fileOrigin, lists);

/** @throws as `OpenWindow`; UnsupportedRendition when its encoding changes */
export async function inspectWindow(request: OpenRequest, lists: LiveLists): Promise<WindowFacts> {
  const window = await createReader(request, lists);
  const { segments } = window;
  const file = await readFile(window).catch((error) => {
    if (error instanceof UnsupportedMp4) return undefined;
    throw error;
  });
  return {
    durationSeconds: durationOf(segments),
    recordedAtMs: segments[0]?.startsAtMs,
    fileOrigin: file?.facts[0]?.start,
  };
}

interface WindowReader {
  readonly request: OpenRequest;
  readonly segments: readonly Segment[];
  readonly locator: TrackLocator<Timeline>;
  readonly list: LiveList;
  readonly chunks: ChunkSizer;
}

async function createReader(request: OpenRequest, lists: LiveLists): Promise<WindowReader> {
  const { resource, track, limits, signal } = request;
  const chunks = new ChunkSizer(limits, track.chunkBytes);
  const rangeRequirement = { isRequired: false, chunks };
  const loadList = loadWindow(lists);
  const load = (at: Track, until: AbortSignal) =>
    loadList({ ...request, rangeRequirement, previous: undefined }, at, until);
  const locator = new TrackLocator({ ...request, load });
  const { segments } = (await locator.current(signal)).value;
  const list = lists.get(resource, track) ?? { segments, facts: new Map(), inits: new Map() };
  return { request, segments, locator, list, chunks };
}

/** A section of a segment, at its URL in the latest list. */
const targetOf = (
  { locator, chunks }: WindowReader,
  { sequence, ...segment }: Segment,
  side: 'init' | 'content',
): UpstreamTarget =>
  locator.target(
    ({ value, track }) => segmentUrl(track, (segmentAt(value, sequence)?.[side] ?? segment[side])?.url ?? ''),
    { chunks },
  );

/** The file of a window, without its header. */
interface WindowFile {
  readonly init: LiveList['inits'] extends Map<string, infer Init> ? Init : never;
  readonly facts: readonly SegmentFacts[];
}

/** @throws UnsupportedMp4 when the window is no file whose every byte is known, UnsupportedRendition, and what reading throws */
async function readFile(window: WindowReader): Promise<WindowFile> {
  const { segments } = window;
  const isPlain = ({ init, content, isGap }: Segment) => init && !init.cipher && !content.cipher && !isGap;
  if (segments.length > MAX_FILE_SEGMENTS || !segments.every(isPlain)) throw new UnsupportedMp4('Not a file');
  const [first] = segments;
  const init = first && (await readInit(window, first));
  if (!init) throw new UnsupportedMp4('No segments');
  let before = first.init;
  for (const segment of segments) {
    if (segment.init === before) continue;
    before = segment.init;
    if (isSameDescription(init.tracks, (await readInit(window, segment)).tracks, KINDS)) continue;
    throw new UnsupportedRendition('The encoding of the live stream changes within the window: choose a later start.');
  }
  const slots = createSemaphore({ permits: PARALLEL_REQUESTS });
  const ended = new AbortController();
  const signal = AbortSignal.any([window.request.signal, ended.signal]);
  try {
    const facts = await Promise.all(
      segments.map(async (segment) => {
        const known = window.list.facts.get(segment.sequence);
        if (known) return known;
        const { release } = await slots.acquire('', signal);
        try {
          const read = await readFacts(window, segment, init.tracks, signal);
          window.list.facts.set(segment.sequence, read);
          return read;
        } finally {
          release();
        }
      }),
    );
    return { init, facts };
  } finally {
    // The first failure ends the requests of all others.
    ended.abort(new Error('The window has been read'));
  }
}

async function readInit(window: WindowReader, segment: Segment): Promise<WindowFile['init']> {
  const { list, request } = window;
  const { url, range } = segment.init as MediaSection;
  const place = `${range?.first ?? 0}-${range?.last ?? ''} ${url}`;
  const known = list.inits.get(place);
  if (known) return known;
  const options = { ...request, target: targetOf(window, segment, 'init') };
  const { bytes } = await fetchBuffer(options, MAX_INIT_BYTES, request.signal, range);
  await ownTurn();
  const moov = findMoov(bytes);
  const init = { bytes, tracks: moov ? parseInitTracks(moov) : [] };
  if (init.tracks.length === 0) throw new UnsupportedMp4('No tracks');
  for (const oldest of list.inits.size >= MAX_INITS ? list.inits.keys().take(1) : []) list.inits.delete(oldest);
  list.inits.set(place, init);
  return init;
}

const findMoov = (bytes: Buffer) => indexContent(bytes, 'file').find('moov')?.whole;

async function readFacts(
  window: WindowReader,
  segment: Segment,
  tracks: WindowFile['init']['tracks'],
  signal: AbortSignal,
): Promise<SegmentFacts> {
  const { request } = window;
  const { range } = segment.content;
  for (let wanted = HEAD_BYTES; wanted <= MAX_MOOF_BYTES; ) {
    const target = targetOf(window, segment, 'content');
    const first = range?.first ?? 0;
    const last = Math.min(first + wanted - 1, range?.last ?? Number.POSITIVE_INFINITY);
    const { bytes: head } = await fetchBuffer({ ...request, target }, wanted, signal, { first, last });
    const size = range ? range.last - range.first + 1 : target.entity.size;
    if (size === undefined) throw new UnsupportedMp4('A segment of unknown size');
    const facts = inspectSegment(head, size, tracks);
    if (!('kind' in facts)) return facts;
    if (facts.kind !== MOOF_AHEAD || facts.bytes <= wanted) break;
    wanted = facts.bytes;
  }
  throw new UnsupportedMp4('moof too large');
}

/** The window as a file: the length, and every byte, follow from the first bytes of its segments. */
async function openWindowFile(request: OpenRequest, origin: number, lists: LiveLists): Promise<FileSource> {
  const { limits, readAheadBudget: budget, track } = request;
  const window = await createReader(request, lists);
  const { segments } = window;
  const { init, facts } = await readFile(window).catch((error) => {
    throw error instanceof UnsupportedMp4 ? new UpstreamError('The segments have changed', { cause: error }) : error;
  });
  const listed = segments.map(({ seconds }, index) => ({ seconds, facts: facts[index] as SegmentFacts }));
  const placed = placeSegments(listed, origin);
  const { tracks } = init;
  const header = writeWindowHeader(init.bytes, { tracks, segments: placed, recordedAtMs: track.window?.recordedAtMs });
  /** Offsets where the segments begin, and the end. */
  const offsets = [header.length];
  for (const { bytes } of placed) offsets.push((offsets.at(-1) ?? 0) + bytes);
  const size = offsets.at(-1) ?? 0;

  const readSegments = (from: number, to: number): ReadAheadStream => {
    const parallelism = new AdaptiveParallelism(limits.maxConnections, request.eventLoopLoad);
    const read = segments.slice(from, to + 1).map(({ init: _, ...segment }) => segment);
    const scheduler = new SegmentScheduler({
      ...{ ...request, ...window, keys: new Map(), parallelism, from: 0, startSeconds: 0 },
      timeline: { segments: read, isComplete: true, reloadSeconds: 1 },
      rangeRequirement: { isRequired: false, chunks: window.chunks },
      filter: createRebase(placed, segments[0]?.sequence ?? 0, tracks),
    });
    return new ReadAheadStream({ scheduler, parallelism, readAheadBytes: limits.readAheadBytes, budget });
  };

  return {
    ...{ needsRemux: false, size, isSeekable: true, validator: digestOf(header) },
    read(first, until = size - 1) {
      const ownBytes = header.subarray(first, until + 1);
      const from = offsets.findLastIndex((offset) => offset <= Math.max(first, header.length));
      const to = offsets.findLastIndex((offset) => offset <= until);
      return new SlicedStream({
        own: Buffer.from(ownBytes),
        source: to >= 0 ? () => readSegments(from, to) : undefined,
        skipBytes: Math.max(0, first - (offsets[from] ?? 0)),
        bytes: until - first + 1 - ownBytes.length,
      });
    },
    close: () => undefined,
  };
}

/** Moves the segments of a window to their places, without a change of length. */
function createRebase(
  placed: readonly PlacedSegment[],
  firstSequence: number,
  tracks: WindowFile['init']['tracks'],
): DiscontinuityFilter {
  const timescaleOf = (id: number) => tracks.find((track) => track.id === id)?.timescale ?? 0;
  return {
    selection: 'all',
    init: () => ({ update: () => Buffer.alloc(0), final: () => Buffer.alloc(0) }),
    segment(_, sequence = Number.NaN) {
      const place = placed[sequence - firstSequence];
      if (!place) throw new TypeError(`No segment ${sequence}`);
      const { shift } = place;
      const boxes = createBoxFilter({
        moof: (moof) => rebaseFragment(moof, (id) => Math.round(shift * timescaleOf(id))),
        // Its times no longer apply.
        sidx: (index) => withType(index, 'free'),
      });
      let bytes = 0;
      const counted = (chunk: Buffer): Buffer => {
        bytes += chunk.length;
        return chunk;
      };
      const filter: Filter = {
        update: (chunk) => counted(boxes.update(chunk)),
        final() {
          const rest = counted(boxes.final());
          if (bytes !== place.bytes) throw new UpstreamError('A segment has changed');
          return rest;
        },
      };
      return filter;
    },
  };
}
