import type { ByteRange, PredictedRange } from '@reelay/seekable-media/http';
import type { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  ByteReader,
  createVirtualFile,
  type FragmentStore,
  findFirstRead,
  fragmentsOf,
} from '@reelay/seekable-media/reading';
import type { Layout, SourceIndex, SubsegmentFragment } from '@reelay/seekable-media/virtual-mp4';
import { fileStreams, type Source } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import { UpstreamError } from '../../../core/errors/index.ts';
import { parse } from '../../../core/parsing/index.ts';
import type { Track } from '../../../core/state/index.ts';
import { openTrack, type SizedFile } from '../../source/index.ts';
import { ComputedExtent, type ComputedExtents, type SharedFile } from '../computed-extents.ts';
import { type ExtrasDependencies, loadExtras, refuseLargeText } from '../extras.ts';
import type { MuxPlan } from '../mux/index.ts';
import { outputFormats, partOf, refusal } from '../output-formats.ts';
import {
  type Opening,
  type RecordSize,
  type Representation,
  type RepresentationHead,
  unread,
} from '../representation.ts';
import { OtherCodec } from './lay-out-part.ts';
import { type LayoutCaches, trackOf } from './layout-caches.ts';
import { type FilePlan, nameClip, WHOLE } from './plan.ts';
import { NoSuchFile, openPlaylist, openPresentedText, type PresentationPlan, unsupported } from './presentation.ts';
import type { KnownLayout, LayoutRequest } from './read-layout.ts';

/**
 * A file with length and ranges that exists only as a layout of the tracks of a rendition: it has their bytes behind a
 * header of its own. The headers of the tracks decide whether there is one.
 */
export type LayoutPlan = FilePlan | PresentationPlan;

export interface LayoutDependencies extends ExtrasDependencies {
  readonly layouts: LayoutCaches;
  readonly extents: ComputedExtents;
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
): Promise<Representation | MuxPlan> {
  const { layouts } = dependencies;
  const { found, id } = plan;
  if (plan.of !== 'presentation') {
    const extras = await loadExtras(found, plan.extras, opening, dependencies);
    return openMedia(
      plan,
      { ...plan, id: extras.id ? nameOf([id], 'extras', extras.id) : id, extras },
      opening,
      dependencies,
    );
  }
  const { playlist, text } = plan;
  if (playlist) return openPlaylist(plan, playlist, opening, layouts);
  return text ? openPresentedText(plan, text, opening, layouts) : openMedia(plan, plan, opening, dependencies);
}

async function openMedia(
  plan: LayoutPlan,
  request: LayoutRequest,
  opening: Opening,
  dependencies: LayoutDependencies,
): Promise<Representation | MuxPlan> {
  const { layouts, recordSize } = dependencies;
  const { range, isForHead, session } = opening;
  const isReadOn = !isForHead && range.first === 0 && range.last === undefined;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    let kept: readonly ByteReader<SizedFile>[] = [];
    const keep = (readers: readonly ByteReader<SizedFile>[]) => {
      kept = readers;
      for (const reader of readers) session.onClose(() => reader.destroy());
    };
    const known = await layouts.load(request, opening, isReadOn ? keep : undefined);
    if (known instanceof Error) {
      if (plan.of === 'presentation') throw unsupported(known);
      return requireInstead(plan, known);
    }
    const head = headOf(plan, known);
    if (plan.of === 'pair' && request.id === plan.id) recordSize(plan.found, known.layout.size);
    if (isForHead) return { ...head, read: unread };
    const read = await openSources(known, { ...dependencies, request, opening, kept });
    if (read) return { ...head, read };
    layouts.delete(request);
  }
  throw new UpstreamError(`The source files of ${plan.found.key} keep changing`);
}

/** @throws NotFound when a playlist refers to other media */
function headOf(plan: LayoutPlan, { layout, name }: KnownLayout): RepresentationHead {
  const { mimeType, fileExtension, isInline } = plan.head;
  const head = {
    mimeType,
    fileExtension,
    isInline,
    size: layout.size,
    acceptRanges: 'bytes',
    etag: `"${name}"`,
  } as const;
  if (plan.of === 'presentation') {
    const { entity } = plan.selection;
    // Byte ranges of an earlier playlist would select other media.
    if (entity !== undefined && entity !== name) throw new NoSuchFile('The media has changed');
    return head;
  }
  const clip = plan.head.clip && plan.times && nameClip(plan.times, layout.endSeconds);
  return { ...head, clip, startSeconds: plan.isFromKeyframe ? layout.startSeconds : undefined };
}

/** The fallback of a plan whose files have no layout. @throws an error that says why there is none */
function requireInstead({ instead, audioAs, times = WHOLE }: FilePlan, reason: UnsupportedMp4): MuxPlan {
  refuseLargeText(reason);
  const isOtherCodec = reason instanceof OtherCodec;
  if (instead && !isOtherCodec) return instead;
  const outputFormat = audioAs ?? outputFormats.mp4;
  const cause = { cause: reason };
  throw isOtherCodec
    ? refusal(outputFormat, 'source', undefined, cause)
    : refusal(outputFormat, partOf(times), `: ${reason.message}`, cause);
}

interface OpenSourcesOptions extends LayoutDependencies {
  readonly request: LayoutRequest;
  readonly opening: Opening;
  /** Readers left open by the call that has made the layout. */
  readonly kept: readonly ByteReader<SizedFile>[];
}

/**
 * Opens the source that has the first byte, and those that may refuse theirs. Undefined when one is no longer the file of the
 * layout.
 */
async function openSources(
  known: KnownLayout,
  { request, opening, layouts, extents, kept, isProbed = () => false }: OpenSourcesOptions,
): Promise<Representation['read'] | undefined> {
  const { found } = request;
  const { session, openSource, range } = opening;
  const { first: firstByte, last: lastByte = Number.POSITIVE_INFINITY } = range;
  const { layout } = known;
  const unused = new Set(kept);
  const sources = kept.map(({ file }): Promise<Source> => Promise.resolve(file));
  const open = (index: SourceIndex, predicted: PredictedRange): Promise<Source> => {
    sources[index] ??= openTrack(openSource, found, trackOf(found, index), session, { range: predicted });
    return sources[index];
  };
  const openSame = async (index: SourceIndex, predicted: PredictedRange): Promise<SizedFile> => {
    const source = await open(index, predicted);
    if (known.fits(index, source)) return source;
    layouts.delete(request);
    throw new UpstreamError('The source file has changed');
  };
  const openFitting = async (index: SourceIndex, predicted: ByteRange): Promise<ByteReader> => {
    const reader = kept[index];
    if (reader?.isNear(predicted.first) && unused.delete(reader)) {
      reader.seek(predicted.first);
      // The status of the response depends on whether it can be read.
      await reader.ready();
      return reader;
    }
    return new ByteReader(await openSame(index, predicted));
  };

  const { client } = session;
  const needed = { first: firstByte, last: Math.min(lastByte, layout.size - 1) };
  const shared = extents.share(known.name, (index) => openSame(index, { first: 0, last: 0 }));
  const isBeyond = firstByte >= layout.size;
  const extent = isBeyond ? undefined : layout.extentAt(firstByte);
  const isList = (index: SourceIndex) => layout.subsegmentTracks.length > 0 && Boolean(found.tracks[index]?.file);
  // A cached fragment was compared with its file when it was read.
  const store = storeOf(extents, shared);
  const isCached = extent?.kind === 'subsegment' && isKept(layout, extent.sourceOffset, { store, isList });
  const isFirst = (index: SourceIndex) =>
    extent !== undefined &&
    !isCached &&
    (extent.kind === 'subsegment' || (extent.kind !== 'own' && extent.source === index));
  const fits = await Promise.all(
    found.tracks.map(async (track, index) => {
      if (!isFirst(index) && !isProbed(track) && !isList(index)) return true;
      const span = isBeyond ? undefined : findFirstRead(layout, index, needed);
      if (!isFirst(index) && !span && !isList(index)) return true;
      return known.fits(index, await open(index, span ?? { first: 0 }));
    }),
  );
  if (fits.includes(false)) return undefined;
  const lists = await Promise.all(
    found.tracks.map(async (_, index) => (isList(index) ? (await openSame(index, { first: 0 })).fragments : undefined)),
  );
  const options = { parse, client, lists, store, openSource: openFitting };
  return fileStreams(createVirtualFile({ ...options, layout, version: known.name }));
}

/** Keeps fragments of files for streams of other clients. */
function storeOf(extents: ComputedExtents, shared: SharedFile): FragmentStore {
  const nameOfFragment = (source: SourceIndex, { index }: SubsegmentFragment) =>
    nameOf([shared.name], 'fragment', [source, index]);
  return {
    get: (source, fragment, isForOthers) =>
      isForOthers
        ? extents.get(nameOfFragment(source, fragment), fragment.bytes, shared.reading)
        : new ComputedExtent(fragment.bytes, shared.reading),
    has: (source, fragment) => extents.complete(nameOfFragment(source, fragment)) !== undefined,
    use: (buffer, isAdded) => shared.use(buffer instanceof ComputedExtent ? buffer : shared, isAdded),
    note: shared.note,
  };
}

interface KeptFragments {
  readonly store: FragmentStore;
  /** Whether a source is a list of segments. */
  readonly isList: (source: SourceIndex) => boolean;
}

/** Whether the fragments of files that a subsegment needs are in memory. */
const isKept = (layout: Layout, number: number, { store, isList }: KeptFragments): boolean =>
  fragmentsOf(layout, number).every(({ source, fragment }) => isList(source) || store.has(source, fragment));
