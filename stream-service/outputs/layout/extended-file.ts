import type { KeyedRendition } from '../../../core/state/index.ts';
import { type NamedExtras, refuseLargeText } from '../extras.ts';
import { COMBINED } from '../mux/index.ts';
import { type RemuxDependencies, remux } from '../remux/index.ts';
import type { ClipTimes, RepresentationOpener } from '../representation.ts';
import type { ClippedDependencies } from './clipped.ts';
import { laidOut } from './laid-out.ts';

const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };

/**
 * A single MP4 file with tags and subtitles: with length and ranges where its layout follows from its header; else from
 * the beginning.
 */
export function extendedFile(
  found: KeyedRendition,
  dependencies: ClippedDependencies & RemuxDependencies,
  extras: NamedExtras,
): RepresentationOpener {
  const { mimeType, fileExtension } = COMBINED;
  return laidOut({
    ...dependencies,
    found,
    cache: dependencies.clips,
    request: { id: `${found.key} whole${extras.id}`, sources: [0], times: WHOLE, extras },
    unknown: () => ({ mimeType, fileExtension, size: undefined, acceptRanges: undefined }),
    headOf: ({ layout, etag }) => ({ mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag }),
    otherwise(reason) {
      refuseLargeText(reason);
      return remux(found, dependencies, extras);
    },
  });
}
