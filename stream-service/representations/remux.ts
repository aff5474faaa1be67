import type { KeyedRendition, Track } from '../../core/state/index.ts';
import type { RequireFfmpeg } from '../ffmpeg/index.ts';
import type { Mux } from '../mux/ffmpeg/index.ts';
import { remuxPlan } from '../mux/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { OpenSource, Source } from '../source/index.ts';
import { openTrack } from './open-track.ts';

export interface RemuxDependencies {
  readonly openSource: OpenSource;
  readonly mux: Mux;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** HLS or DASH segments or a file of one track, copied by FFmpeg into one file of unknown size. */
export function remux(found: KeyedRendition, dependencies: RemuxDependencies): RepresentationOpener {
  const { openSource, mux, requireFfmpeg } = dependencies;
  const [track] = found.tracks;
  const plan = remuxPlan(track);
  const { mimeType, fileExtension } = plan;
  const head: RepresentationHead = { mimeType, fileExtension, size: undefined, acceptRanges: 'none' };

  return {
    describe: () => head,
    async open(session) {
      const { client } = session;
      // First, so that no upstream request is wasted while FFmpeg is missing.
      const ffmpeg = await requireFfmpeg();
      const source = await openTrack(openSource, found, track, session);
      const durationSeconds = durationOf(source, track);
      return { ...head, read: () => mux(ffmpeg, { sources: [source], plan, durationSeconds, client }) };
    },
  };
}

/** Seconds by the container or the playlist; undefined for a live source. */
function durationOf(source: Source, { durationSeconds }: Track): number | undefined {
  if (!source.needsRemux) return durationSeconds;
  return source.durationSeconds && (durationSeconds ?? source.durationSeconds);
}
