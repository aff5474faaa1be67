import type { Readable } from 'node:stream';
import type { Log } from '../../../core/log/index.ts';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { LayoutExtras } from '../../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, State } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { isMp4File, needsRemux, type OpenSource, openTrack, type Source } from '../../source/index.ts';
import { type NamedExtras, refuseLargeText, requireFittingText } from '../extras.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { COMBINED, combinedPlan } from '../mux/index.ts';
import { muxNatively } from '../mux/native/index.ts';
import { type RepresentationHead, type RepresentationOpener, toReadError } from '../representation.ts';
import { type LaidOutDependencies, laidOut } from './laid-out.ts';
import type { Layouts } from './layouts.ts';

export interface PairDependencies extends LaidOutDependencies {
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly layouts: Layouts;
  readonly recordSize: RecordSize;
}

const { mimeType, fileExtension } = COMBINED;

/**
 * A video and an audio track as one file with length and ranges, where its layout follows from the headers of both; else
 * muxed from the beginning.
 */
export function seekablePair(
  found: KeyedRendition,
  dependencies: PairDependencies,
  extras: NamedExtras,
): RepresentationOpener {
  const muxed = muxedPair(found, dependencies, extras);
  const { key, tracks, resource } = found;
  if (tracks.length !== 2 || resource.isLive || !tracks.every(isMp4File)) return muxed;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.layouts,
    request: { id: key + extras.id, sources: [0, 1], extras },
    unknown: () => ({ ...muxed.describe(), acceptRanges: undefined }),
    headOf: ({ layout, etag }) => ({ mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag }),
    onLayout: ({ size }) => {
      if (extras.id === '') dependencies.recordSize(found, size);
    },
    otherwise(reason) {
      refuseLargeText(reason);
      return muxed;
    },
  });
}

interface Muxing {
  readonly body: Readable;
  /** Open, in the order of the tracks. */
  readonly sources: readonly Source[];
}

/** The two tracks muxed from the beginning: MP4 files in this process, others by FFmpeg. */
function muxedPair(found: KeyedRendition, dependencies: PairDependencies, extras: LayoutExtras): RepresentationOpener {
  const { peekSource } = dependencies;
  const { tracks } = found;
  const isExact = tracks.every((track) => needsRemux(track) || track.sizeIsExact);
  const muxed = tracks.every(isMp4File) ? muxFiles : muxByFfmpeg;

  return {
    describe: () => muxedHead(tracks.map(({ sizeBytes }) => sizeBytes)),
    inspect:
      isExact || !peekSource ? undefined : async (session) => muxedHead(await inspectSizes(found, session, peekSource)),
    async open(session) {
      requireFittingText(extras, durationOf(found));
      const { body, sources } = await muxed({ ...found, extras }, session, dependencies);
      session.onClose(() => body.destroy());
      const sizes = sources.map((source, index) => source.size ?? tracks[index]?.sizeBytes);
      return { ...muxedHead(sizes), read: () => body };
    },
  };
}

/** A rendition to mux, with what is added to it. */
interface ExtendedRendition extends KeyedRendition {
  readonly extras: LayoutExtras;
}

async function muxFiles(
  found: ExtendedRendition,
  session: StreamSession,
  dependencies: PairDependencies,
): Promise<Muxing> {
  const { openSource, mux, requireFfmpeg } = dependencies;
  const sources = await Promise.all(openTracks(openSource, found, session));
  const inputs = found.tracks.map(({ durationSeconds }, index) => ({
    source: sources[index] as Source,
    kind: index === 0 ? ('vide' as const) : ('soun' as const),
    durationSeconds: durationSeconds ?? found.resource.durationSeconds,
  }));
  const body = await muxNatively(inputs, session, found.extras).catch(async (error) => {
    if (!(error instanceof UnsupportedMp4)) throw toReadError(error);
    return mux(await requireFfmpeg(), muxJob(found, sources, session));
  });
  return { body, sources };
}

async function muxByFfmpeg(
  found: ExtendedRendition,
  session: StreamSession,
  { openSource, mux, requireFfmpeg }: PairDependencies,
): Promise<Muxing> {
  const ffmpeg = await requireFfmpeg();
  const opening = openTracks(openSource, found, session);
  // FFmpeg starts while the sources are being opened.
  const body = mux(ffmpeg, muxJob(found, opening, session));
  session.onClose(() => body.destroy());
  return { body, sources: await Promise.all(opening) };
}

function muxJob(found: ExtendedRendition, sources: readonly (Source | Promise<Source>)[], { client }: StreamSession) {
  const { extras } = found;
  const [video, audio = video] = found.tracks;
  return { sources, plan: combinedPlan(video, audio), durationSeconds: durationOf(found), extras, client };
}

/** Seconds of the longer track, by its container where that was read; undefined when live. */
function durationOf({ resource, tracks }: KeyedRendition): number | undefined {
  if (resource.isLive) return undefined;
  const known = tracks.flatMap(({ durationSeconds }) => durationSeconds ?? []);
  return known.length === tracks.length ? Math.max(...known) : resource.durationSeconds;
}

/** Opens all tracks of a rendition concurrently. The first failure aborts the others. */
function openTracks(openSource: OpenSource, found: KeyedRendition, session: StreamSession): Promise<Source>[] {
  const failed = new AbortController();
  const signal = AbortSignal.any([session.signal, failed.signal]);
  const opening = found.tracks.map((track) => openTrack(openSource, found, track, session, { signal }));
  for (const each of opening) each.catch((error) => failed.abort(error));
  return opening;
}

/** Bytes of each track: of files as their sources say, of segments as the table knows. */
const inspectSizes = (found: KeyedRendition, session: StreamSession, peekSource: OpenSource) =>
  Promise.all(
    found.tracks.map(async (track) => {
      if (needsRemux(track)) return track.sizeBytes;
      const source = await openTrack(peekSource, found, track, session);
      return source.size ?? track.sizeBytes;
    }),
  );

/** The size is that of the tracks and about a thousandth more: an estimate, never a Content-Length. */
function muxedHead(trackBytes: readonly (number | undefined)[]): RepresentationHead {
  const total = trackBytes.reduce((sum = Number.NaN, bytes = Number.NaN) => sum + bytes, 0);
  return { mimeType, fileExtension, size: undefined, acceptRanges: 'none', estimatedBytes: total || undefined };
}

/** Stores the exact size of a rendition unless its resource has it already. Never fails: the next stream tries again. */
export type RecordSize = (found: KeyedRendition, bytes: number) => void;

export interface SizeRecorderDependencies {
  readonly state: Pick<State, 'putExactSize'>;
  readonly log: Log;
}

export function createSizeRecorder({ state, log }: SizeRecorderDependencies): RecordSize {
  /** Keys whose size is being stored: a player requests several ranges at once. */
  const pending = new Set<string>();

  return ({ key, resource, rendition }, bytes) => {
    if (resource.exactSizes?.[rendition.id] === bytes || pending.has(key)) return;
    pending.add(key);
    state
      .putExactSize(resource, rendition.id, bytes)
      .catch((error) => log.warn('Storing the size of a rendition failed', { resource: resource.id, error }))
      .finally(() => pending.delete(key));
  };
}
