import type { KeyedRendition } from '../../core/state/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';
import type { Converter } from '../conversions/index.ts';
import type { RequireFfmpeg } from '../ffmpeg/index.ts';
import type { ClipTimes, Representation, RepresentationOpener } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { needsRemux, type OpenSource } from '../source/index.ts';
import { openTrack } from './open-track.ts';

export interface ConvertedDependencies {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again. */
  readonly peekSource?: OpenSource;
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  readonly requireFfmpeg: RequireFfmpeg;
}

/** The audio of a rendition in another format, or a part of it. */
export function converted(
  found: KeyedRendition,
  converter: Converter,
  { openSource, peekSource, ffmpeg, requireFfmpeg }: ConvertedDependencies,
  clip?: ClipTimes,
): RepresentationOpener {
  const {
    resource,
    tracks: [track],
  } = found;
  const openWith =
    (open: OpenSource) =>
    async (session: StreamSession): Promise<Representation> => {
      // First, so that no upstream request is wasted while FFmpeg is missing.
      const build = await requireFfmpeg();
      const source = await openTrack(open, found, track, session);
      return converter.open(resource, track, source, { ffmpeg: build, client: session.client, clip });
    };

  return {
    describe: () => converter.describe(resource, track, ffmpeg(), clip),
    // Segments say no more once they are open than the table knows.
    inspect: peekSource && !needsRemux(track) ? openWith(peekSource) : undefined,
    open: openWith(openSource),
  };
}
