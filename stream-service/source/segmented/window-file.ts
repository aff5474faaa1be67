import { UpstreamError } from '../../../core/errors/index.ts';
import { digestOf } from '../../../core/http/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import { createPlacement, writeWindowHeader } from '../../../core/media/mp4-window/index.ts';
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
import { createReader, mayBeFile, readAllFacts, readInit } from './window-reader.ts';

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

const ignoreUnsupported = (error: unknown): undefined => {
  if (!(error instanceof UnsupportedMp4)) throw error;
};

/**
 * @param isKnownOnly whether it is a file only if that is known already: nothing but the list is requested
 * @throws as `OpenWindow`; UnsupportedRendition when its encoding changes
 */
export async function inspectWindow(request: OpenRequest, lists: LiveLists, isKnownOnly = false): Promise<WindowFacts> {
  const window = await createReader(request, lists);
  const { segments } = window.timeline;
  const [first] = segments;
  const isInspected =
    mayBeFile(segments) && (!isKnownOnly || segments.every(({ sequence }) => window.list.facts.has(sequence)));
  const facts = isInspected
    ? await readInit(window, first)
        .then((init) => readAllFacts(window, segments, init))
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
  const { segments } = window.timeline;
  const [first] = segments;
  const { init, facts } = await readInit(window, first)
    .then(async (init) => ({ init, facts: await readAllFacts(window, segments, init) }))
    .catch((error) => {
      throw error instanceof UnsupportedMp4 ? new UpstreamError('The segments have changed', { cause: error }) : error;
    });
  /** A placement that has the segments before one. */
  const placeUntil = (index: number) => {
    const placement = createPlacement(origin);
    const known = facts.slice(0, index);
    const placed = known.map((facts, place) => placement.add({ facts, seconds: segments[place]?.seconds ?? 0 }));
    return { placement, placed };
  };
  const header = writeWindowHeader(init.bytes, {
    tracks: init.tracks,
    recordedAtMs: track.window?.recordedAtMs,
    segments: placeUntil(facts.length).placed,
  });
  /** Where each segment begins, and the end of the last one. */
  const offsets = [header.length];
  for (const { bytes } of facts) offsets.push((offsets.at(-1) ?? 0) + bytes);
  const size = offsets.at(-1) ?? 0;
  const bySequence = new Map(segments.map(({ sequence }, index) => [sequence, facts[index]]));

  const readSegments = (from: number, to: number): ReadAheadStream => {
    const parallelism = new AdaptiveParallelism(limits.maxConnections, request.eventLoopLoad);
    const scheduler = new SegmentScheduler({
      ...request,
      ...window,
      keys: new Map(),
      parallelism,
      from: 0,
      startSeconds: 0,
      timeline: { ...window.timeline, segments: segments.slice(from, to + 1) },
      rangeRequirement: { isRequired: false, chunks: window.chunks },
      container: { kind: 'mp4' },
      initBefore: first?.init,
      filter: createRebase(placeUntil(from).placement, (sequence) => bySequence.get(sequence), init.tracks),
    });
    return new ReadAheadStream({ scheduler, parallelism, readAheadBytes: limits.readAheadBytes, budget });
  };

  return {
    needsRemux: false,
    size,
    isSeekable: true,
    validator: digestOf([header, facts[0]]),
    read(start, last = size - 1) {
      const ownBytes = header.subarray(start, last + 1);
      const from = offsets.findLastIndex((offset) => offset <= Math.max(start, header.length));
      const to = offsets.findLastIndex((offset) => offset <= last);
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
