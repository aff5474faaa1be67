import type { KeyedRendition } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { needsRemux, openTrack, type Source } from '../../source/index.ts';
import { type ExtrasDependencies, loadExtras, requireFittingText } from '../extras.ts';
import { type Opening, type Representation, unread } from '../representation.ts';
import type { Mux } from './ffmpeg-muxer.ts';
import { selectPairFormat } from './mux-format.ts';
import { type MuxPlan, muxedHead } from './plan.ts';

export interface MuxDependencies extends ExtrasDependencies {
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** @throws UnsupportedRendition when the subtitles are too large, InMaintenance */
export async function openMux(
  { found, extras: planned }: MuxPlan,
  opening: Opening,
  { mux, requireFfmpeg, ...dependencies }: MuxDependencies,
): Promise<Representation> {
  const { session, isForHead } = opening;
  const { resource, tracks } = found;
  if (isForHead) return { ...muxedHead(await readSizes(found, opening)), read: unread };
  const extras = await loadExtras(resource, planned, opening, dependencies);
  const durationSeconds = durationOf(found);
  requireFittingText(extras, durationSeconds);
  // First, so that no upstream request is wasted while FFmpeg is missing.
  const ffmpeg = await requireFfmpeg();
  const sources = openTracks(found, opening);
  const [video, ...audio] = tracks;
  const format = selectPairFormat(video, audio, planned.sounds);
  // FFmpeg starts while the sources are being opened.
  const { recordedAtMs } = video.window ?? {};
  const body = mux(ffmpeg, { sources, format, durationSeconds, recordedAtMs, extras, client: session.client });
  session.onClose(() => body.destroy());
  const sizes = (await Promise.all(sources)).map(({ size }, index) => size ?? tracks[index]?.sizeBytes);
  return { ...muxedHead(sizes), read: () => body };
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
    found.tracks.map(async (track) => {
      if (needsRemux(track)) return track.sizeBytes;
      const source = await openTrack(openSource, found, track, session);
      return source.size ?? track.sizeBytes;
    }),
  );
