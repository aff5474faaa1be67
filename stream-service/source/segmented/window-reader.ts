import { Readable } from 'node:stream';
import { ownTurn } from '../../../core/concurrency/index.ts';
import { UnsupportedRendition } from '../../../core/errors/index.ts';
import { indexContent, isSameDescription, parseInitTracks, UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import { inspectSegment, MOOF_AHEAD, type SegmentFacts } from '../../../core/media/mp4-window/index.ts';
import {
  isSameSection,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
} from '../../../core/media/timeline/index.ts';
import { segmentUrl } from '../../../core/state/index.ts';
import { fetchBuffer } from '../memory.ts';
import type { OpenRequest } from '../source.ts';
import type { TrackLocator } from '../track-locator.ts';
import type { ChunkSizer, UpstreamTarget } from '../upstream-request.ts';
import { type InitSection, type LiveList, type LiveLists, loadWindow, openList } from './live-lists.ts';

/** The first bytes of a segment of a few seconds have all of its `moof`. */
const HEAD_BYTES = 16 * 1024;
const MAX_MOOF_BYTES = 1024 * 1024;
const MAX_INIT_BYTES = 4 * 1024 * 1024;
/**
 * A list with more segments or initialization sections is not made a file: before its length is known each is requested, from
 * hosts that a playlist names.
 */
const MAX_FILE_SEGMENTS = 100;
const MAX_FILE_INITS = 8;
/** A head is asked for once more. */
const HEAD_ATTEMPTS = 2;
const PARALLEL_REQUESTS = 6;
/** Initialization sections that are kept of a list: an advertisement may have its own. */
const MAX_INITS = 32;
export const KINDS = ['vide', 'soun'];

/** The window of a track, whose list has been loaded. */
export interface WindowReader {
  readonly request: OpenRequest;
  readonly timeline: Timeline;
  readonly locator: TrackLocator<Timeline>;
  readonly list: LiveList;
  readonly chunks: ChunkSizer;
}

/** @throws NotFound when the window is no longer held */
export async function createReader(request: OpenRequest, lists: LiveLists): Promise<WindowReader> {
  const opened = await openList(request, loadWindow(lists), true);
  const list = lists.get(request.resource, request.track);
  return { request, ...opened, list: list ?? { ...opened.timeline, facts: new Map(), inits: new Map() } };
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

/** Whether a segment may be part of a file. */
const isPlain = ({ init, content }: Segment) => init && !init.cipher && !content.cipher;

/**
 * The facts of the segments with media, of which the first bytes are requested where they are not known.
 * @throws UnsupportedMp4 when they make no file whose every byte is known, UnsupportedRendition when the encoding changes
 */
export async function readAllFacts(
  window: WindowReader,
  segments: readonly Segment[],
  init: InitSection,
): Promise<readonly SegmentFacts[]> {
  const { facts } = window.list;
  const unknown = segments.filter(({ sequence }) => !facts.has(sequence));
  if (unknown.length > MAX_FILE_SEGMENTS || !unknown.every(isPlain)) throw new UnsupportedMp4('Not a file');
  if (!(await hasOneEncoding(window, segments, init)))
    throw new UnsupportedRendition('The encoding of the live stream changes within the window: choose a later start.');
  // The first failure ends the requests of all others.
  const options = { concurrency: PARALLEL_REQUESTS, signal: window.request.signal };
  return Readable.from(segments)
    .map(async (segment: Segment, { signal = options.signal } = {}) => {
      const read = facts.get(segment.sequence) ?? (await readFacts(window, segment, signal));
      facts.set(segment.sequence, read);
      return read;
    }, options)
    .toArray();
}

/** Whether a window is so short that a request for it may ask for each of its segments. */
export const mayBeFile = (segments: readonly Segment[]): boolean =>
  segments.length <= MAX_FILE_SEGMENTS &&
  segments.filter(({ init }, index) => !isSameSection(init, segments[index - 1]?.init)).length <= MAX_FILE_INITS;

/** Whether all segments have the encoding of these tracks. */
async function hasOneEncoding(window: WindowReader, segments: readonly Segment[], { tracks }: InitSection) {
  let before = segments[0]?.init;
  for (const segment of segments) {
    if (!isPlain(segment)) return false;
    if (isSameSection(segment.init, before)) continue;
    before = segment.init;
    if (!isSameDescription(tracks, (await readInit(window, segment)).tracks, KINDS)) return false;
  }
  return true;
}

/** @throws UnsupportedMp4 when there is none that describes tracks */
export async function readInit(window: WindowReader, segment: Segment | undefined): Promise<InitSection> {
  const { list, request } = window;
  if (!segment || !isPlain(segment)) throw new UnsupportedMp4('Not a file');
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

export const findMoov = (bytes: Buffer) => indexContent(bytes, 'file').find('moov')?.whole;

async function readFacts(window: WindowReader, segment: Segment, signal: AbortSignal): Promise<SegmentFacts> {
  const { request } = window;
  const { tracks } = await readInit(window, segment);
  const { range } = segment.content;
  const limits = { ...request.limits, maxAttempts: HEAD_ATTEMPTS };
  for (let wanted = HEAD_BYTES; wanted <= MAX_MOOF_BYTES; ) {
    const target = targetOf(window, segment, 'content');
    const first = range?.first ?? 0;
    const last = Math.min(first + wanted - 1, range?.last ?? Number.POSITIVE_INFINITY);
    const { bytes: head } = await fetchBuffer({ ...request, limits, target }, wanted, signal, { first, last });
    const size = range ? range.last - range.first + 1 : target.entity.size;
    if (size === undefined) throw new UnsupportedMp4('A segment of unknown size');
    const facts = inspectSegment(head, size, tracks);
    if (!('kind' in facts)) return facts;
    if (facts.kind !== MOOF_AHEAD || facts.bytes <= wanted) break;
    wanted = facts.bytes;
  }
  throw new UnsupportedMp4('moof too large');
}
