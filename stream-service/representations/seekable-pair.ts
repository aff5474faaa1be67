import { getOperation } from '../../core/api/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import type { SourceIndex } from '../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import { COMBINED } from '../mux/index.ts';
import { toReadError } from '../read-error.ts';
import type { Representation, RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { needsRemux, type OpenSource, type Source } from '../source/index.ts';
import { type KnownLayout, LayoutStream, type Layouts, type SizedFile } from '../virtual-mp4/index.ts';
import { type CombinedDependencies, combined } from './combined.ts';
import { withoutRanges } from './from-beginning.ts';
import { openTrack } from './open-track.ts';

export interface SeekablePairDependencies extends CombinedDependencies {
  readonly layouts: Layouts;
}

const MP4 = /^(mp4|m4a|m4v)$/i;

/**
 * A video and an audio track as one file with length and ranges, where its layout follows from the headers of both; else
 * muxed from the beginning.
 */
export function seekablePair(found: KeyedRendition, dependencies: SeekablePairDependencies): RepresentationOpener {
  const muxed = combined(found, dependencies);
  const { key, tracks, resource } = found;
  const { layouts, openSource, peekSource } = dependencies;
  const [video, audio] = tracks;
  if (!audio || resource.isLive || !isMp4File(video) || !isMp4File(audio)) return muxed;

  const load = (open: OpenSource, { signal }: StreamSession) =>
    layouts
      .load(key, (index, shared) => open(resource, index === 0 ? video : audio, shared, 0), signal)
      .catch((error) => {
        throw signal.aborted ? error : toReadError(error);
      });

  return {
    describe() {
      const known = layouts.recall(key);
      if (known === 'none') return muxed.describe();
      return known ? headOf(known) : { ...muxed.describe(), acceptRanges: undefined };
    },
    inspect:
      peekSource &&
      (async (session) => {
        const known = await load(peekSource, session);
        return known ? headOf(known) : (muxed.inspect?.(session) ?? muxed.describe());
      }),
    async open(session, firstByte) {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const known = await load(openSource, session);
        if (!known) return muxed.open(session, 0);
        const opened = await openPair(known, { found, session, openSource, firstByte, layouts });
        if (opened) return opened;
        layouts.forget(key);
      }
      throw new UpstreamError('The source files keep changing');
    },
  };
}

/** The same bytes for the Combined endpoint: from the beginning, with the path where they can be requested by range. */
export const pairFromBeginning = (found: KeyedRendition, dependencies: SeekablePairDependencies) =>
  withoutRanges(seekablePair(found, dependencies), getOperation('Media').path.replace('{key}', found.key));

interface OpenPairOptions {
  readonly found: KeyedRendition;
  readonly session: StreamSession;
  readonly openSource: OpenSource;
  readonly firstByte: number;
  readonly layouts: Layouts;
}

/** Opens the source that has the first byte. Undefined when it is no longer the file of the layout. */
async function openPair(known: KnownLayout, options: OpenPairOptions): Promise<Representation | undefined> {
  const { found, session, openSource, firstByte, layouts } = options;
  const { layout } = known;
  const sources: Promise<Source>[] = [];
  const open = (index: SourceIndex, offset: number): Promise<Source> => {
    sources[index] ??= openTrack(openSource, found, found.tracks[index] as Track, session, { firstByte: offset });
    return sources[index];
  };
  const openFitting = async (index: SourceIndex, offset: number): Promise<SizedFile> => {
    const source = await open(index, offset);
    if (known.fits(index, source)) return source;
    layouts.forget(found.key);
    throw new UpstreamError('The source file has changed');
  };

  const extent = firstByte < layout.size ? layout.extentAt(firstByte) : undefined;
  if (extent && extent.kind !== 'own') {
    const skipped = extent.kind === 'samples' ? firstByte - extent.start : 0;
    const source = await open(extent.source, extent.sourceOffset + skipped);
    if (!known.fits(extent.source, source)) return undefined;
  }
  return {
    ...headOf(known),
    read: (first, last = layout.size - 1) => new LayoutStream({ layout, first, last, openSource: openFitting }),
  };
}

const isMp4File = (track: Track) => !needsRemux(track) && MP4.test(track.container);

function headOf({ layout, etag }: KnownLayout): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  return { mimeType, fileExtension, size: layout.size, acceptRanges: 'bytes', etag };
}
