import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { openTrack, type Source } from '../../source/index.ts';
import { type ExtrasDependencies, loadExtras, type PlannedExtras, requireFittingText } from '../extras.ts';
import { type Mux, selectAudioFormat, selectRemuxFormat } from '../mux/index.ts';
import type { Opening, PlannedOutput, Representation } from '../representation.ts';

/** HLS or DASH segments or a file, copied by FFmpeg into one file of unknown size. */
export interface RemuxPlan extends PlannedOutput {
  readonly kind: 'remux';
  readonly found: KeyedRendition;
  readonly extras: PlannedExtras;
}

export function planRemux(found: KeyedRendition, extras: PlannedExtras): RemuxPlan {
  const { mimeType, fileExtension } = formatOf(found, extras);
  const head = { mimeType, fileExtension, size: undefined, acceptRanges: 'none' } as const;
  return { kind: 'remux', found, extras, head, answersHead: true };
}

const formatOf = ({ tracks: [track] }: KeyedRendition, { container }: PlannedExtras, comments?: readonly string[]) =>
  container ? selectAudioFormat(container, track, comments) : selectRemuxFormat(track);

export interface RemuxDependencies extends ExtrasDependencies {
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** @throws UnsupportedRendition when the subtitles are too large, InMaintenance */
export async function openRemux(
  { found, head, extras: planned }: RemuxPlan,
  opening: Opening,
  { mux, requireFfmpeg, ...dependencies }: RemuxDependencies,
): Promise<Representation> {
  const { session, openSource } = opening;
  const { resource, tracks } = found;
  const [track] = tracks;
  const extras = await loadExtras(resource, planned, opening, dependencies);
  requireFittingText(extras, resource.durationSeconds);
  // First, so that no upstream request is wasted while FFmpeg is missing.
  const ffmpeg = await requireFfmpeg();
  const source = await openTrack(openSource, found, track, session);
  const durationSeconds = durationOf(source, track);
  const textEndSeconds = durationSeconds ?? resource.durationSeconds;
  const job = {
    sources: [source],
    client: session.client,
    durationSeconds,
    textEndSeconds,
    recordedAtMs: track.window?.recordedAtMs,
    format: formatOf(found, planned, extras.comments),
    extras: planned.container ? undefined : extras,
  };
  return { ...head, read: () => mux(ffmpeg, job) };
}

/** Seconds by the container or the playlist; undefined for a live source. */
function durationOf(source: Source, { durationSeconds }: Track): number | undefined {
  if (!source.needsRemux) return durationSeconds;
  return source.durationSeconds && (durationSeconds ?? source.durationSeconds);
}
