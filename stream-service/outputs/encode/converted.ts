import { type ListPlace, recordingText } from '../../../core/conversions/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import type { Ffmpeg } from '../../../core/tools/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { needsRemux, type OpenSource, openTrack } from '../../source/index.ts';
import type { Covers } from '../picture/index.ts';
import type { Representation, RepresentationOpener } from '../representation.ts';
import type { ConversionOptions, Converter } from './converter.ts';

/** What FFmpeg reads of a file first. */
const OPENING_RANGE = { first: 0, last: 64 * 1024 - 1 };

export interface ConvertedDependencies {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again. */
  readonly peekSource?: OpenSource;
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly covers: Covers;
}

export interface ConvertedOptions extends Omit<ConversionOptions, 'fullTag'> {
  /** With a full tag, cover included. */
  readonly hasTags?: boolean;
  readonly listPlace?: ListPlace;
}

/** The audio of a rendition in another format, or a part of it. */
export function converted(
  found: KeyedRendition,
  converter: Converter,
  { openSource, peekSource, ffmpeg, requireFfmpeg, covers }: ConvertedDependencies,
  { hasTags, listPlace, ...chosen }: ConvertedOptions = {},
): RepresentationOpener {
  const {
    resource,
    tracks: [track],
  } = found;
  const withTag = (cover?: Buffer): ConversionOptions => ({
    ...chosen,
    fullTag: hasTags ? { cover, text: recordingText(resource, listPlace) } : undefined,
  });
  const openWith =
    (open: OpenSource, findCover: (session: StreamSession) => Promise<Buffer | undefined>) =>
    async (session: StreamSession): Promise<Representation> => {
      // First, so that no upstream request is wasted while FFmpeg is missing or busy.
      const build = await requireFfmpeg();
      converter.requireRoom(session.client);
      const [source, cover] = await Promise.all([
        openTrack(open, found, track, session, { range: OPENING_RANGE }),
        hasTags ? findCover(session) : undefined,
      ]);
      return converter.open(resource, track, source, { ...withTag(cover), ffmpeg: build, client: session.client });
    };
  const storedCover = () => covers.stored(resource);
  // Open segments add nothing to what the table has.
  const inspectSegments = async () =>
    converter.describe(resource, track, { ...withTag(await storedCover()), ffmpeg: ffmpeg() });

  return {
    describe: () => converter.describe(resource, track, { ...withTag(), ffmpeg: ffmpeg() }),
    inspect: needsRemux(track)
      ? hasTags
        ? inspectSegments
        : undefined
      : peekSource && openWith(peekSource, storedCover),
    open: openWith(openSource, (session) => covers.find(resource, session)),
  };
}
