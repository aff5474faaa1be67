import { createHash } from 'node:crypto';
import type { PredictedRange } from '../../../core/http/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { type OpenSource, openTrack, type Source } from '../../source/index.ts';
import type { Representation, RepresentationOpener } from '../representation.ts';

export interface FileDependencies {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again. */
  readonly peekSource?: OpenSource;
}

/** A direct file, sent as it is. */
export function file(found: KeyedRendition, { openSource, peekSource }: FileDependencies): RepresentationOpener {
  const {
    rendition: { mimeType, fileExtension },
    tracks: [track],
  } = found;
  const openWith =
    (open: OpenSource) =>
    async (session: StreamSession, range?: PredictedRange): Promise<Representation> =>
      toRepresentation(found, await openTrack(open, found, track, session, { range }));

  return {
    describe: () => ({
      mimeType,
      fileExtension,
      size: track.sizeIsExact ? track.sizeBytes : undefined,
      acceptRanges: 'bytes',
    }),
    inspect: peekSource && openWith(peekSource),
    open: openWith(openSource),
  };
}

function toRepresentation({ key, rendition }: KeyedRendition, source: Source): Representation {
  if (source.needsRemux) throw new Error('A direct track was opened as segments');
  const { size, validator } = source;
  return {
    size,
    mimeType: rendition.mimeType,
    fileExtension: rendition.fileExtension,
    etag: size === undefined ? undefined : etagOf(key, size, validator),
    acceptRanges: size === undefined ? 'none' : 'bytes',
    read: (first, last) => source.read(first, last),
  };
}

/** Another size or another validator of the source is another entity. */
const etagOf = (...parts: readonly unknown[]): string =>
  `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)}"`;
