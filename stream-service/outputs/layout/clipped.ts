import { InvalidParameter } from '../../../core/errors/index.ts';
import type { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { isMp4File } from '../../source/index.ts';
import { type NamedExtras, refuseLargeText } from '../extras.ts';
import { COMBINED } from '../mux/index.ts';
import type { ClipTimes, RepresentationHead, RepresentationOpener } from '../representation.ts';
import { type LaidOutDependencies, laidOut } from './laid-out.ts';
import type { Clips } from './layouts.ts';

export interface ClippedDependencies extends LaidOutDependencies {
  readonly clips: Clips;
}

/**
 * A part of an MP4 file or of a pair of them, as a file of its own.
 * @throws InvalidParameter when it cannot be clipped
 */
export function clipped(
  found: KeyedRendition,
  { clip: times, extras }: { readonly clip: ClipTimes; readonly extras: NamedExtras },
  dependencies: ClippedDependencies,
): RepresentationOpener {
  const { key, resource, rendition, tracks } = found;
  if (resource.isLive) throw new InvalidParameter('A live stream cannot be clipped.');
  if (!tracks.every(isMp4File)) throw new InvalidParameter('Only MP4 files and conversions can be clipped.');
  const { mimeType, fileExtension } = tracks.length > 1 ? COMBINED : rendition;
  const head = (shownEnd: number | undefined): Omit<RepresentationHead, 'size' | 'acceptRanges'> => ({
    mimeType,
    fileExtension,
    clip: clipName(times, shownEnd),
  });
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.clips,
    request: {
      id: `${key} ${times.startSeconds}-${times.endSeconds}${extras.id}`,
      sources: tracks.length > 1 ? [0, 1] : [0],
      times,
      extras,
    },
    unknown: () => ({ ...head(resource.durationSeconds), size: undefined, acceptRanges: undefined }),
    headOf: ({ layout, etag }) => ({ ...head(layout.endSeconds), size: layout.size, acceptRanges: 'bytes', etag }),
    otherwise: refuse,
  });
}

/** The requested times, which name the clip; an end beyond the media is that of the media, in whole seconds. */
export const clipName = ({ startSeconds, endSeconds }: ClipTimes, mediaEnd = endSeconds): ClipTimes => ({
  startSeconds,
  endSeconds: endSeconds <= mediaEnd ? endSeconds : Math.round(mediaEnd),
});

function refuse(reason: UnsupportedMp4): never {
  refuseLargeText(reason);
  throw new InvalidParameter(`This cannot be clipped: ${reason.message}.`, { cause: reason });
}
