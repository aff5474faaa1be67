import { conversions } from '../../../core/conversions/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../../core/errors/index.ts';
import { audioFamily } from '../../../core/media/codecs/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { isMp4File } from '../../source/index.ts';
import { type FileDependencies, file } from '../copy/index.ts';
import type { NamedExtras } from '../extras.ts';
import { type RemuxDependencies, remux } from '../remux/index.ts';
import type { ClipTimes, RepresentationHead, RepresentationOpener } from '../representation.ts';
import { type ClippedDependencies, clipName } from './clipped.ts';
import { laidOut } from './laid-out.ts';
import { NotAac } from './layouts.ts';

export interface CopiedAudioDependencies extends ClippedDependencies, FileDependencies, RemuxDependencies {}

export interface CopiedAudioOptions {
  /** The part to send; absent: the whole. */
  readonly clip?: ClipTimes;
  readonly extras: NamedExtras;
}

const { mimeType, fileExtension } = conversions.m4a;
const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };
const REASON = 'The audio of the source is not AAC, which M4A would copy.';

/**
 * The AAC audio of a rendition as M4A, copied. With length and ranges where the source is an MP4 file; else from the
 * beginning.
 * @param found with its audio track alone
 * @throws InvalidParameter for a live stream, UnsupportedRendition when the audio is not AAC
 */
export function copiedAudio(
  found: KeyedRendition,
  { clip, extras }: CopiedAudioOptions,
  dependencies: CopiedAudioDependencies,
): RepresentationOpener {
  const {
    resource,
    tracks: [track],
  } = found;
  if (resource.isLive) throw new InvalidParameter('A live stream cannot be sent as M4A.');
  const isKnownAac = track.audio?.codec !== undefined && audioFamily(track.audio.codec) === 'aac';
  if (track.audio?.codec !== undefined && !isKnownAac) throw new UnsupportedRendition(REASON);
  if (!isMp4File(track)) return remuxed(found, { clip, extras }, dependencies);
  if (!clip && !extras.tags && isKnownAac && isAudioFile(track)) {
    const rendition = { ...found.rendition, mimeType, fileExtension };
    return file({ ...found, rendition }, dependencies);
  }

  const head = (shownEnd: number | undefined): Omit<RepresentationHead, 'size' | 'acceptRanges'> => ({
    mimeType,
    fileExtension,
    clip: clip && clipName(clip, shownEnd),
  });
  const times = clip ?? WHOLE;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.clips,
    request: {
      id: `${found.key} m4a ${times.startSeconds}-${times.endSeconds}${extras.id}`,
      sources: [0],
      times,
      isAudioAlone: true,
      extras,
    },
    unknown: () => ({ ...head(resource.durationSeconds), size: undefined, acceptRanges: undefined }),
    headOf: ({ layout, etag }) => ({ ...head(layout.endSeconds), size: layout.size, acceptRanges: 'bytes', etag }),
    otherwise(reason) {
      if (reason instanceof NotAac) throw new UnsupportedRendition(REASON, { cause: reason });
      return remuxed(found, { clip, extras }, dependencies);
    },
  });
}

/** By its extension: an MP4 file without video may have further tracks. */
const isAudioFile = ({ video, container }: Track): boolean => video === null && /^m4a$/i.test(container);

/** @throws InvalidParameter for a clip */
function remuxed(
  found: KeyedRendition,
  { clip, extras }: CopiedAudioOptions,
  dependencies: RemuxDependencies,
): RepresentationOpener {
  if (clip) throw new InvalidParameter('Only MP4 files and conversions can be clipped.');
  const [track] = found.tracks;
  return remux({ ...found, tracks: [{ ...track, video: null }] }, dependencies, extras);
}
