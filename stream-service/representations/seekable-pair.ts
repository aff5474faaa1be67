import { getOperation } from '../../core/api/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import { COMBINED } from '../mux/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import { needsRemux } from '../source/index.ts';
import type { KnownLayout, Layouts } from '../virtual-mp4/index.ts';
import { type CombinedDependencies, combined } from './combined.ts';
import { withoutRanges } from './from-beginning.ts';
import { laidOut } from './laid-out.ts';

export interface SeekablePairDependencies extends CombinedDependencies {
  readonly layouts: Layouts;
}

const MP4 = /^(mp4|m4a|m4v)$/i;

/** Whether a track is a file that may have a layout. */
export const isMp4File = (track: Track): boolean => !needsRemux(track) && MP4.test(track.container);

/**
 * A video and an audio track as one file with length and ranges, where its layout follows from the headers of both; else
 * muxed from the beginning.
 */
export function seekablePair(found: KeyedRendition, dependencies: SeekablePairDependencies): RepresentationOpener {
  const muxed = combined(found, dependencies);
  const { key, tracks, resource } = found;
  if (tracks.length !== 2 || resource.isLive || !tracks.every(isMp4File)) return muxed;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.layouts,
    request: { id: key, sources: [0, 1] },
    unknown: () => ({ ...muxed.describe(), acceptRanges: undefined }),
    headOf,
    otherwise: () => muxed,
  });
}

/** The same bytes for the Combined endpoint: from the beginning, with the path where they can be requested by range. */
export const pairFromBeginning = (found: KeyedRendition, dependencies: SeekablePairDependencies) =>
  withoutRanges(seekablePair(found, dependencies), getOperation('Media').path.replace('{key}', found.key));

function headOf({ layout, etag }: KnownLayout): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  return { mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag };
}
