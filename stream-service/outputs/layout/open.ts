import type { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import type { ClipLayout } from '@reelay/seekable-media/mp4-clip';
import type { Layout, SourceIndex } from '@reelay/seekable-media/virtual-mp4';
import { UpstreamError } from '../../../core/errors/index.ts';
import type { PredictedRange } from '../../../core/http/index.ts';
import type { Track } from '../../../core/state/index.ts';
import { openTrack, type Source } from '../../source/index.ts';
import { type ExtrasDependencies, loadExtras, refuseLargeText } from '../extras.ts';
import type { MuxPlan } from '../mux/index.ts';
import type { RemuxPlan } from '../remux/index.ts';
import {
  type Opening,
  type RecordSize,
  type Representation,
  type RepresentationHead,
  unread,
} from '../representation.ts';
import { partOf, refusal, writers } from '../writers.ts';
import type { SizedFile } from './byte-reader.ts';
import { type LayoutCaches, loadLayout, OtherCodec, trackOf, type Wanted } from './layout-caches.ts';
import { findFirstRead, LayoutStream } from './layout-stream.ts';
import type { PlaceCache } from './muxed-places.ts';
import { openPlaylist, presentationOf, refusePresentation, withoutQuotes } from './open-playlist.ts';
import { type LayoutPlan, NoSuchFile, nameClip, type PairPlan, type PartPlan } from './plan.ts';
import type { KnownLayout, LayoutRequest } from './read-layout.ts';

export interface LayoutDependencies extends ExtrasDependencies {
  readonly layouts: LayoutCaches;
  readonly recordSize: RecordSize;
  /** Whether a track is opened before the status is chosen although its bytes come later. @default none is */
  readonly isProbed?: (track: Track) => boolean;
}

/**
 * @returns what the plan says to send instead when the files have no layout
 * @throws NotFound, UnsupportedRendition, InvalidParameter when they have none, and what reading their headers throws
 */
export async function openLayout(
  plan: LayoutPlan,
  opening: Opening,
  dependencies: LayoutDependencies,
): Promise<Representation | MuxPlan | RemuxPlan> {
  const { layouts } = dependencies;
  const { found, id } = plan;
  if (plan.of === 'presentation') {
    const wanted = presentationOf(plan, opening, layouts.presentations);
    if (plan.alternative && (await loadLayout(wanted)) instanceof Error)
      return openLayout(plan.alternative, opening, dependencies);
    return plan.playlist === undefined
      ? openMedia(plan, wanted, dependencies)
      : openPlaylist(plan, plan.playlist, wanted);
  }

  const sources = found.tracks.map((_, index) => index);
  const extras = await loadExtras(found.resource, plan.extras, opening, dependencies);
  const request = { id: id + extras.id, sources, extras };
  const wanted = { found, opening, request };
  return plan.of === 'pair'
    ? openMedia(plan, { ...wanted, cache: layouts.pairs }, dependencies)
    : openMedia(
        plan,
        { ...wanted, request: { ...plan, ...request }, cache: plan.isScanned ? layouts.scans : layouts.parts },
        dependencies,
      );
}

async function openMedia<Request extends LayoutRequest, L extends Layout>(
  plan: LayoutPlan,
  wanted: Wanted<Request, L>,
  { layouts, recordSize, isProbed }: LayoutDependencies,
): Promise<Representation | MuxPlan | RemuxPlan> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const known = await loadLayout(wanted);
    if (known instanceof Error)
      return plan.of === 'presentation' ? refusePresentation(known) : requireInstead(plan, known);
    const head = headOf(plan, known);
    if (plan.of === 'pair' && Object.keys(plan.extras).length === 0) recordSize(plan.found, known.layout.size);
    if (wanted.opening.isForHead) return { ...head, read: unread };
    const read = await openSources(known, wanted, layouts.places, isProbed);
    if (read) return { ...head, read };
    wanted.cache.delete(wanted.request);
  }
  throw new UpstreamError(`The source files of ${plan.found.key} keep changing`);
}

/** @throws NotFound when a playlist refers to other media */
function headOf(plan: LayoutPlan, { layout, etag }: KnownLayout): RepresentationHead {
  // Byte ranges of an earlier playlist would select other media.
  if (plan.of === 'presentation' && plan.entity !== undefined && plan.entity !== withoutQuotes(etag))
    throw new NoSuchFile('The media has changed');
  const { mimeType, fileExtension, isInline } = plan.head;
  const { startSeconds: shown, endSeconds } = layout as Partial<ClipLayout>;
  const clip = plan.head.clip && plan.of === 'part' ? nameClip(plan.times, endSeconds) : undefined;
  const startSeconds = plan.of === 'part' && plan.isFromKeyframe ? shown : undefined;
  return { mimeType, fileExtension, isInline, clip, startSeconds, size: layout.size, acceptRanges: 'bytes', etag };
}

/** What is sent instead. @throws an error that says why nothing is */
function requireInstead(plan: PairPlan | PartPlan, reason: UnsupportedMp4): MuxPlan | RemuxPlan {
  refuseLargeText(reason);
  const isOtherCodec = reason instanceof OtherCodec;
  if (plan.instead && !isOtherCodec) return plan.instead;
  const { audioAs = writers.mp4, times = {} } = plan.of === 'part' ? plan : {};
  const cause = { cause: reason };
  throw isOtherCodec
    ? refusal(audioAs, 'source', undefined, cause)
    : refusal(audioAs, partOf(times), `: ${reason.message}`, cause);
}

/**
 * Opens the source that has the first byte, and those that may refuse theirs. Undefined when one is no longer the file of the
 * layout.
 */
async function openSources<Request extends LayoutRequest, L extends Layout>(
  known: KnownLayout<L>,
  { found, opening, cache, request }: Wanted<Request, L>,
  places: PlaceCache,
  isProbed: (track: Track) => boolean = () => false,
): Promise<Representation['read'] | undefined> {
  const { session, openSource, range } = opening;
  const { first: firstByte, last: lastByte = Number.POSITIVE_INFINITY } = range;
  const { layout } = known;
  const sources: Promise<Source>[] = [];
  const open = (index: SourceIndex, predicted: PredictedRange): Promise<Source> => {
    sources[index] ??= openTrack(openSource, found, trackOf(found, index), session, { range: predicted });
    return sources[index];
  };
  const openFitting = async (index: SourceIndex, predicted: PredictedRange): Promise<SizedFile> => {
    const source = await open(index, predicted);
    if (known.fits(index, source)) return source;
    cache.delete(request);
    throw new UpstreamError('The source file has changed');
  };

  const extent = firstByte < layout.size ? layout.extentAt(firstByte) : undefined;
  const needed = { first: firstByte, last: Math.min(lastByte, layout.size - 1) };
  // What is in the cache has been read from the files of the layout.
  const isCached = extent?.kind === 'place' && places.has(known.etag, extent.sourceOffset);
  const isFirst = (index: SourceIndex) =>
    extent !== undefined &&
    !isCached &&
    (extent.kind === 'place' || (extent.kind !== 'own' && extent.source === index));
  const fits = await Promise.all(
    request.sources.map(async (index) => {
      if (!isFirst(index) && !isProbed(trackOf(found, index))) return true;
      const span = firstByte < layout.size ? findFirstRead(layout, index, needed) : undefined;
      if (!isFirst(index) && !span) return true;
      return known.fits(index, await open(index, span ?? { first: 0 }));
    }),
  );
  if (fits.includes(false)) return undefined;
  const { client } = session;
  const cached = { cache: places, id: known.etag };
  return (first, last = layout.size - 1) =>
    new LayoutStream({ layout, first, last, client, openSource: openFitting, places: cached });
}
