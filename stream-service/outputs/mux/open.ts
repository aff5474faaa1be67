import type { Readable } from 'node:stream';
import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { isMp4File, needsRemux, openTrack, type Source } from '../../source/index.ts';
import { type ExtrasDependencies, type LoadedExtras, loadExtras, requireFittingText } from '../extras.ts';
import { type Opening, type Representation, toReadError, unread } from '../representation.ts';
import type { Mux } from './ffmpeg/index.ts';
import { combinedPlan } from './mux-plan.ts';
import { muxNatively } from './native/index.ts';
import { type MuxPlan, muxedHead } from './plan.ts';

export interface MuxDependencies extends ExtrasDependencies {
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** @throws UnsupportedRendition when the subtitles are too large, InMaintenance, and what `OpenSource` throws */
export async function openMux(
  { found, extras: planned }: MuxPlan,
  opening: Opening,
  dependencies: MuxDependencies,
): Promise<Representation> {
  const { session, isForHead } = opening;
  const { resource, tracks } = found;
  if (isForHead) return { ...muxedHead(await readSizes(found, opening)), read: unread };
  const extras = await loadExtras(resource, planned, opening, dependencies);
  requireFittingText(extras, durationOf(found));
  const muxed = tracks.every(isMp4File) ? muxFiles : muxByFfmpeg;
  const { body, sources } = await muxed({ ...found, extras }, opening, dependencies);
  session.onClose(() => body.destroy());
  const sizes = sources.map((source, index) => source.size ?? tracks[index]?.sizeBytes);
  return { ...muxedHead(sizes), read: () => body };
}

interface Muxing {
  readonly body: Readable;
  /** Open, in the order of the tracks. */
  readonly sources: readonly Source[];
}

/** A rendition to mux, with what is added to it. */
interface ExtendedRendition extends KeyedRendition {
  readonly extras: LoadedExtras;
}

/** MP4 files are muxed in this process. */
async function muxFiles(
  found: ExtendedRendition,
  opening: Opening,
  { mux, requireFfmpeg }: MuxDependencies,
): Promise<Muxing> {
  const { session } = opening;
  const sources = await Promise.all(openTracks(found, opening));
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
  opening: Opening,
  { mux, requireFfmpeg }: MuxDependencies,
): Promise<Muxing> {
  const { session } = opening;
  const ffmpeg = await requireFfmpeg();
  const sources = openTracks(found, opening);
  // FFmpeg starts while the sources are being opened.
  const body = mux(ffmpeg, muxJob(found, sources, session));
  session.onClose(() => body.destroy());
  return { body, sources: await Promise.all(sources) };
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
function openTracks(found: KeyedRendition, { session, openSource }: Opening): Promise<Source>[] {
  const failed = new AbortController();
  const signal = AbortSignal.any([session.signal, failed.signal]);
  const opening = found.tracks.map((track) => openTrack(openSource, found, track, session, { signal }));
  for (const each of opening) each.catch((error) => failed.abort(error));
  return opening;
}

/** Bytes of each track: of files as their sources say, of segments as the table knows. */
const readSizes = (found: KeyedRendition, { session, openSource }: Opening) =>
  Promise.all(
    found.tracks.map(async (track: Track) => {
      if (needsRemux(track)) return track.sizeBytes;
      const source = await openTrack(openSource, found, track, session);
      return source.size ?? track.sizeBytes;
    }),
  );
