import type { Source } from '@reelay/source';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { needsRemux, openTrack } from '../../source/index.ts';
import { type ExtrasDependencies, loadExtras, requireFittingText } from '../extras.ts';
import { type Opening, type Representation, unread } from '../representation.ts';
import type { Mux } from './ffmpeg-muxer.ts';
import { selectFormat } from './mux-format.ts';
import { type MuxPlan, withEstimate } from './plan.ts';

export interface MuxDependencies extends ExtrasDependencies {
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** @throws UnsupportedRendition when the subtitles are too large, InMaintenance */
export async function openMux(
  { found, head, extras: planned }: MuxPlan,
  opening: Opening,
  { mux, requireFfmpeg, ...dependencies }: MuxDependencies,
): Promise<Representation> {
  const { session, isForHead } = opening;
  const { resource, tracks } = found;
  if (isForHead)
    return { ...(tracks.length > 1 ? withEstimate(head, await readSizes(found, opening)) : head), read: unread };
  const extras = await loadExtras(found, planned, opening, dependencies);
  const expectedSeconds = durationOf(found);
  requireFittingText(extras, expectedSeconds);
  // First, so that no upstream request is wasted while FFmpeg is missing.
  const ffmpeg = await requireFfmpeg();
  const sources = openTracks(found, opening);
  const [track, second] = tracks;
  const [only] = second ? [] : await Promise.all(sources);
  const durationSeconds = only ? lengthOf(only, track) : expectedSeconds;
  // FFmpeg starts while the sources of a pair are being opened.
  const body = mux(ffmpeg, {
    sources,
    format: selectFormat(found, planned.container, extras.comments),
    durationSeconds,
    textEndSeconds: durationSeconds ?? resource.durationSeconds,
    recordedAtMs: track.window?.recordedAtMs,
    extras: planned.container ? undefined : extras,
    client: session.client,
  });
  session.onClose(() => body.destroy());
  const sizes = (await Promise.all(sources)).map(({ size }, index) => size ?? tracks[index]?.sizeBytes);
  return { ...withEstimate(head, sizes), read: () => body };
}

/** Seconds by the container or the playlist; undefined for a live source. */
function lengthOf(source: Source, { durationSeconds }: Track): number | undefined {
  if (!source.needsRemux) return durationSeconds;
  return source.durationSeconds && (durationSeconds ?? source.durationSeconds);
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
