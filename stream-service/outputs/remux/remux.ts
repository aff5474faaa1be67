import type { LayoutExtras } from '../../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { type OpenSource, openTrack, type Source } from '../../source/index.ts';
import { requireFittingText } from '../extras.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { remuxPlan } from '../mux/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';

export interface RemuxDependencies {
  readonly openSource: OpenSource;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/**
 * HLS or DASH segments or a file, copied by FFmpeg into one file of unknown size.
 * @param extras for MP4
 */
export function remux(
  found: KeyedRendition,
  dependencies: RemuxDependencies,
  extras: LayoutExtras = {},
): RepresentationOpener {
  const { openSource, mux, requireFfmpeg } = dependencies;
  const [track] = found.tracks;
  const plan = remuxPlan(track);
  const { mimeType, fileExtension } = plan;
  const head: RepresentationHead = { mimeType, fileExtension, size: undefined, acceptRanges: 'none' };

  return {
    describe: () => head,
    async open(session) {
      const { client } = session;
      requireFittingText(extras, found.resource.durationSeconds);
      // First, so that no upstream request is wasted while FFmpeg is missing.
      const ffmpeg = await requireFfmpeg();
      const source = await openTrack(openSource, found, track, session);
      const durationSeconds = durationOf(source, track);
      const textEndSeconds = durationSeconds ?? found.resource.durationSeconds;
      const job = { sources: [source], plan, durationSeconds, extras, textEndSeconds, client };
      return { ...head, read: () => mux(ffmpeg, job) };
    },
  };
}

/** Seconds by the container or the playlist; undefined for a live source. */
function durationOf(source: Source, { durationSeconds }: Track): number | undefined {
  if (!source.needsRemux) return durationSeconds;
  return source.durationSeconds && (durationSeconds ?? source.durationSeconds);
}
