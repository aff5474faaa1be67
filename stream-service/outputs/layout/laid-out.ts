import { UpstreamError } from '../../../core/errors/index.ts';
import type { PredictedRange } from '../../../core/http/index.ts';
import type { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { Layout, SourceIndex } from '../../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { type OpenSource, openTrack, type Source } from '../../source/index.ts';
import {
  type Representation,
  type RepresentationHead,
  type RepresentationOpener,
  toReadError,
} from '../representation.ts';
import type { LayoutCache } from './layout-cache.ts';
import { firstRead, LayoutStream, type SizedFile } from './layout-stream.ts';
import { HEADER_RANGE, type KnownLayout, type LayoutRequest } from './read-layout.ts';

export interface LaidOutDependencies {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again. */
  readonly peekSource?: OpenSource;
  /** Whether a track is opened before the status is chosen although its bytes come later. @default none is */
  readonly isProbed?: (track: Track) => boolean;
}

export interface LaidOutOptions<Request extends LayoutRequest, L extends Layout> extends LaidOutDependencies {
  readonly found: KeyedRendition;
  readonly cache: LayoutCache<Request, L>;
  readonly request: Request;
  /** Describes it while the layout is not known. */
  readonly unknown: () => RepresentationHead;
  readonly headOf: (known: KnownLayout<L>) => RepresentationHead;
  /** Called when the layout is known from open sources. */
  readonly onLayout?: (layout: L) => void;
  /** What to send where there is no layout. @throws what to answer instead */
  readonly otherwise: (reason: UnsupportedMp4) => RepresentationOpener;
}

/** A file with length and ranges that exists only as a layout of the tracks of a rendition. Source n is track n. */
export function laidOut<Request extends LayoutRequest, L extends Layout>(
  options: LaidOutOptions<Request, L>,
): RepresentationOpener {
  const { found, cache, request, unknown, otherwise, openSource, peekSource, onLayout } = options;
  const headOf = (known: KnownLayout<L>) => {
    onLayout?.(known.layout);
    return options.headOf(known);
  };

  return {
    describe() {
      const known = cache.get(request);
      if (!known) return unknown();
      return known instanceof Error ? otherwise(known).describe() : options.headOf(known);
    },
    inspect:
      peekSource &&
      (async (session) => {
        const known = await loadLayout(options, peekSource, session);
        if (!(known instanceof Error)) return headOf(known);
        const other = otherwise(known);
        return other.inspect?.(session) ?? other.describe();
      }),
    async open(session, range) {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const known = await loadLayout(options, openSource, session);
        if (known instanceof Error) return otherwise(known).open(session, { first: 0 });
        const read = await openLayout(known, options, session, range);
        if (read) return { ...headOf(known), read };
        cache.delete(request);
      }
      throw new UpstreamError(`The source files of ${found.key} keep changing`);
    },
  };
}

/** The layout from the cache or the headers of its sources. @throws what opening and reading them throws */
export function loadLayout<Request extends LayoutRequest, L extends Layout>(
  { cache, request, found }: Pick<LaidOutOptions<Request, L>, 'cache' | 'request' | 'found'>,
  open: OpenSource,
  { client, signal }: Pick<StreamSession, 'client' | 'signal'>,
): Promise<KnownLayout<L> | UnsupportedMp4> {
  const openFile = (index: SourceIndex, shared: AbortSignal) =>
    open(found.resource, trackOf(found, index), shared, HEADER_RANGE);
  return cache.load(request, openFile, { client, signal }).catch((error) => {
    throw signal.aborted ? error : toReadError(error);
  });
}

const trackOf = ({ tracks }: KeyedRendition, index: SourceIndex): Track => {
  const track = tracks[index];
  if (!track) throw new TypeError(`No track ${index}`);
  return track;
};

/**
 * Opens the source that has the first byte, and those that may refuse theirs. Undefined when one is no longer the file of the
 * layout.
 */
async function openLayout<Request extends LayoutRequest, L extends Layout>(
  known: KnownLayout<L>,
  { found, openSource, cache, request, isProbed = () => false }: LaidOutOptions<Request, L>,
  session: StreamSession,
  { first: firstByte, last: lastByte = Number.POSITIVE_INFINITY }: PredictedRange,
): Promise<Representation['read'] | undefined> {
  const { layout } = known;
  const sources: Promise<Source>[] = [];
  const open = (index: SourceIndex, range: PredictedRange): Promise<Source> => {
    sources[index] ??= openTrack(openSource, found, trackOf(found, index), session, { range });
    return sources[index];
  };
  const openFitting = async (index: SourceIndex, range: PredictedRange): Promise<SizedFile> => {
    const source = await open(index, range);
    if (known.fits(index, source)) return source;
    cache.delete(request);
    throw new UpstreamError('The source file has changed');
  };

  const extent = firstByte < layout.size ? layout.extentAt(firstByte) : undefined;
  const needed = { first: firstByte, last: Math.min(lastByte, layout.size - 1) };
  const isFirst = (index: SourceIndex) => extent !== undefined && extent.kind !== 'own' && extent.source === index;
  const fits = await Promise.all(
    request.sources.map(async (index) => {
      if (!isFirst(index) && !isProbed(trackOf(found, index))) return true;
      const range = firstByte < layout.size ? firstRead(layout, index, needed) : undefined;
      if (!isFirst(index) && !range) return true;
      return known.fits(index, await open(index, range ?? { first: 0 }));
    }),
  );
  if (fits.includes(false)) return undefined;
  const { client } = session;
  return (first, last = layout.size - 1) => new LayoutStream({ layout, first, last, client, openSource: openFitting });
}
