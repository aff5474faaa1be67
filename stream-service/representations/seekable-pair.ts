import type { LayoutExtras } from '../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import { COMBINED } from '../mux/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { KnownLayout, Layouts } from '../virtual-mp4/index.ts';
import { tagsId } from './clipped.ts';
import { type CombinedDependencies, combined, isMp4File } from './combined.ts';
import { laidOut } from './laid-out.ts';
import type { RecordSize } from './size-recorder.ts';

export interface SeekablePairDependencies extends CombinedDependencies {
  readonly layouts: Layouts;
  readonly recordSize: RecordSize;
}

/**
 * A video and an audio track as one file with length and ranges, where its layout follows from the headers of both; else
 * muxed from the beginning.
 */
export function seekablePair(
  found: KeyedRendition,
  dependencies: SeekablePairDependencies,
  extras: LayoutExtras = {},
): RepresentationOpener {
  const muxed = combined(found, dependencies);
  const { key, tracks, resource } = found;
  if (tracks.length !== 2 || resource.isLive || !tracks.every(isMp4File)) return muxed;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.layouts,
    request: { id: key + tagsId(extras.tags), sources: [0, 1], extras },
    unknown: () => ({ ...muxed.describe(), acceptRanges: undefined }),
    headOf,
    onLayout: ({ size }) => {
      if (!extras.tags) dependencies.recordSize(found, size);
    },
    otherwise: () => muxed,
  });
}

function headOf({ layout, etag }: KnownLayout): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  return { mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag };
}
