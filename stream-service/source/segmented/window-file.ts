import { UpstreamError } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import { createPlacement, type SegmentFacts, writeWindowHeader } from '../../../core/media/mp4-window/index.ts';
import { durationOf } from '../../../core/media/timeline/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import { AdaptiveParallelism } from '../read-ahead-limits.ts';
import { ReadAheadStream } from '../read-ahead-stream.ts';
import type { FileSource, OpenOptions, OpenRequest, Source } from '../source.ts';
import { type LiveLists, loadWindow } from './live-lists.ts';
import { createRebase } from './rebase-filter.ts';
import { SegmentScheduler } from './segment-scheduler.ts';
import { openSegments } from './segmented-source.ts';
import { SlicedStream } from './sliced-stream.ts';
import { countOfEncoding, createReader, mayBeFile, readAllFacts, readInit } from './window-reader.ts';

/** What is known of a window before it is read. */
export interface WindowFacts {
  readonly durationSeconds: number;
  /** Epoch milliseconds, where the list states it. */
  readonly recordedAtMs: number | undefined;
  /** Time of the first sample on the clock of its segments, seconds. Undefined: it is no file whose every byte is known. */
  readonly fileOrigin: number | undefined;
}

/** @throws NotFound when its segments are no longer held */
export type OpenWindow = (
  resource: Resource,
  track: Track,
  options?: OpenOptions & { readonly isKnownOnly?: boolean },
) => Promise<WindowFacts>;

/** Reads the window of a track as a file or as segments. @throws NotFound, UpstreamError, UrlExpired */
export const openWindow = (request: OpenRequest, lists: LiveLists): Promise<Source> =>
  request.track.window?.fileOrigin === undefined
    ? openSegments(request, loadWindow(lists))
    : openWindowFile(request, request.track.window.fileOrigin, lists);

const isGrowing = ({ track }: OpenRequest): boolean => !Number.isFinite(track.window?.last);

const ignoreUnsupported = (error: unknown): undefined => {
  if (!(error instanceof UnsupportedMp4)) throw error;
};

/**
 * @param isKnownOnly whether it is a file only if that is known already: nothing but the list is requested
 * @throws as `OpenWindow`; UnsupportedRendition when its encoding changes
 */
export async function inspectWindow(request: OpenRequest, lists: LiveLists, isKnownOnly = false): Promise<WindowFacts> {
  const window = await createReader(request, lists, !isGrowing(request));
  const { segments } = window.timeline;
  const [first] = segments;
  // What a file that grows has besides is found when ranges of it are requested.
  const inspected = isGrowing(request) ? segments.slice(0, 1) : segments;
  const isInspected =
    mayBeFile(inspected) && (!isKnownOnly || inspected.every(({ sequence }) => window.list.facts.has(sequence)));
  const facts = isInspected
    ? await readInit(window, first)
        .then((init) => readAllFacts(window, inspected, init))
        .catch(ignoreUnsupported)
    : undefined;
  return {
    durationSeconds: durationOf(segments),
    recordedAtMs: first?.startsAtMs,
    fileOrigin: facts?.[0]?.start,
  };
}

/** The window as a file: every byte follows from its segments, and every offset from the first bytes of those before it. */
async function openWindowFile(request: OpenRequest, origin: number, lists: LiveLists): Promise<FileSource> {
  const { limits, readAheadBudget: budget, track } = request;
  const window = await createReader(request, lists);
  const { list } = window;
  const listed = window.timeline.segments.filter(({ isGap }) => !isGap);
  const [first] = listed;
  const { init, facts, count } = await readInit(window, first)
    .then(async (init) => ({
      init,
      facts: await readAllFacts(window, isGrowing(request) ? listed.slice(0, 1) : listed, init),
      count: await countOfEncoding(window, listed, init),
    }))
    .catch((error) => {
      throw error instanceof UnsupportedMp4 ? new UpstreamError('The segments have changed', { cause: error }) : error;
    });
  const segments = listed.slice(0, count);
  // Another encoding ends a file that grows.
  const timeline = count < listed.length ? { ...window.timeline, segments, isComplete: true } : window.timeline;
  /** A placement that has the first segments. */
  const place = (known: readonly SegmentFacts[]) => {
    const placement = createPlacement(origin);
    const placed = known.map((facts, index) => placement.add({ facts, seconds: segments[index]?.seconds ?? 0 }));
    return { placement, placed };
  };
  const { recordedAtMs } = track.window ?? {};
  const header = writeWindowHeader(init.bytes, {
    tracks: init.tracks,
    recordedAtMs,
    segments: isGrowing(request) ? undefined : place(facts).placed,
  });
  /** The segments as far as their sizes are known. */
  let known = facts;
  /** Where these begin, and the end of the last one. */
  const offsetsOf = () => {
    const offsets = [header.length];
    for (const { bytes } of known) offsets.push((offsets.at(-1) ?? 0) + bytes);
    return offsets;
  };
  const sizeNow = async (): Promise<number | undefined> => {
    const read = await readAllFacts(window, segments, init).catch(ignoreUnsupported);
    known = read ?? known;
    return read && offsetsOf().at(-1);
  };
  const size = timeline.isComplete ? await sizeNow() : undefined;

  /** @param to infinite: to the end of the list */
  const readSegments = (from: number, to: number): ReadAheadStream => {
    const parallelism = new AdaptiveParallelism(limits.maxConnections, request.eventLoopLoad);
    const next = segments[from];
    const scheduler = new SegmentScheduler({
      ...request,
      ...window,
      keys: new Map(),
      parallelism,
      startSeconds: 0,
      ...(Number.isFinite(to)
        ? { timeline: { ...timeline, segments: segments.slice(from, to + 1), isComplete: true }, from: 0 }
        : { timeline, from: next ? timeline.segments.indexOf(next) : timeline.segments.length }),
      rangeRequirement: { isRequired: false, chunks: window.chunks },
      container: { kind: 'mp4' },
      exactAfter: first?.init,
      filter: createRebase(place(known.slice(0, from)).placement, list.facts, init.tracks),
    });
    return new ReadAheadStream({ scheduler, parallelism, readAheadBytes: limits.readAheadBytes, budget });
  };

  return {
    needsRemux: false,
    size,
    isSeekable: true,
    validator: digestOf([header, facts[0]]),
    sizeNow: isGrowing(request) ? sizeNow : undefined,
    read(start, last = (size ?? Number.POSITIVE_INFINITY) - 1) {
      const ownBytes = header.subarray(start, last + 1);
      const offsets = offsetsOf();
      const from = offsets.findLastIndex((offset) => offset <= Math.max(start, header.length));
      const to = Number.isFinite(last) ? offsets.findLastIndex((offset) => offset <= last) : last;
      return new SlicedStream({
        own: Buffer.from(ownBytes),
        source: to >= 0 ? () => readSegments(from, to) : undefined,
        skipBytes: Math.max(0, start - (offsets[from] ?? 0)),
        bytes: last - start + 1 - ownBytes.length,
        isToEnd: last + 1 === offsets[to + 1],
      });
    },
    close: () => undefined,
  };
}
