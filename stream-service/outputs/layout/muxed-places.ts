import { type MovieFragment, parseBoxes, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type Layout,
  type MuxedPlaceRequest,
  type PlaceFragment,
  placeFragments,
  placeTimes,
  type ReadFragment,
  type SourceIndex,
} from '@reelay/seekable-media/virtual-mp4';
import { type Name, nameOf } from '@reelay/source/names';
import { ARRANGE_MUXED_PLACE, type ParsingOptions, parse } from '../../../core/parsing/index.ts';
import type { ByteReader } from '../byte-reader.ts';
import type { ComputedExtent, ComputedExtents, SharedFile } from '../computed-extents.ts';
import { readMoofs } from './read-movie-fragments.ts';

/** A place of a layout, and what it is read by. */
export interface PlaceReading {
  readonly layout: Layout;
  /** The layout, in one version of its sources. */
  readonly shared: SharedFile;
  readonly number: number;
  /** Its bytes, and the fragments of audio that it shares with others: players open a connection for each place. */
  readonly extents: ComputedExtents;
  /** The reader of a source, at any position. */
  readonly readerOf: (source: SourceIndex) => Promise<ByteReader>;
  readonly parsing: ParsingOptions;
}

/** The name of the extent of a place. */
export const placeName = ({ name }: Pick<SharedFile, 'name'>, number: number): Name => nameOf([name], 'place', number);

type PlaceTrack = Layout['placeTracks'][number];

interface KnownFragment {
  readonly moofs: readonly MovieFragment[];
  /** All of its bytes, where they are in memory. */
  readonly content?: Buffer;
}

/** A part of a place: bytes in memory, or of a source. */
type Part =
  | { readonly bytes: Buffer }
  | { readonly source: SourceIndex; readonly first: number; readonly bytes: number };

const bytesOf = ({ bytes }: Part): number => (typeof bytes === 'number' ? bytes : bytes.length);

/** What the places that are being read consist of: they have whole fragments of audio. */
const arranged = new WeakMap<ComputedExtent, readonly Part[]>();

/**
 * Adds some bytes to the extent of a place.
 * @throws UnsupportedMp4 when the samples are not what the index says, and what reading the sources throws
 */
export async function readPlace(extent: ComputedExtent, reading: PlaceReading): Promise<void> {
  const parts = arranged.get(extent) ?? (await arrange(extent.bytes, reading));
  arranged.set(extent, parts);
  let start = 0;
  for (const part of parts) {
    const bytes = bytesOf(part);
    const done = extent.filled - start;
    start += bytes;
    if (done >= bytes) continue;
    if ('source' in part)
      await extent.appendFrom(
        await reading.readerOf(part.source),
        part.first + done,
        part.bytes - done,
        (first, chunk) => reading.shared.note(part.source, first, chunk),
      );
    else extent.append(part.bytes.subarray(done));
    if (extent.missingBytes === 0) arranged.delete(extent);
    return;
  }
  throw new RangeError('A place has less bytes than planned');
}

async function arrange(bytes: number, reading: PlaceReading): Promise<readonly Part[]> {
  const { layout, number, parsing } = reading;
  const wanted = layout.placeTracks.map((track) => ({ track, fragments: placeFragments(track, number) }));
  const sources = await Promise.all(
    [...Map.groupBy(wanted, ({ track }) => track.source)].map(async ([source, tracks]) => {
      return [source, await readSource(source, tracks, reading)] as const;
    }),
  );
  const read = new Map(sources);
  const request = requestOf(layout, { number, bytes }, ({ source }, fragment) => ({
    moofs: ownMoof(layout, fragment) ?? read.get(source)?.get(fragment.index)?.moofs ?? [],
  }));
  const { head, tail, spans } = await parse(ARRANGE_MUXED_PLACE, request, parsing);
  const media = wanted.flatMap(({ track: { source }, fragments }, index) =>
    (spans[index] ?? []).map((span): Part => {
      const fragment = fragments.find(({ first, bytes }) => span.first >= first && span.first < first + bytes);
      const content = fragment && read.get(source)?.get(fragment.index)?.content;
      if (!content) return { source, ...span };
      const start = span.first - fragment.first;
      return { bytes: content.subarray(start, start + span.bytes) };
    }),
  );
  return [{ bytes: head }, ...media, { bytes: tail }];
}

/** @param find what is known of the samples of a fragment */
export const requestOf = (
  { placeTracks }: Layout,
  { number, bytes }: { readonly number: number; readonly bytes: number },
  find: (track: PlaceTrack, fragment: PlaceFragment) => Pick<ReadFragment, 'moofs' | 'run'>,
): MuxedPlaceRequest => ({
  bytes,
  sequence: number + 1,
  tracks: placeTracks.map((track) => ({
    source: track.source,
    sourceId: track.sourceId,
    defaults: track.defaults,
    factor: track.factor,
    shift: track.shift,
    times: placeTimes(track, number),
    fragments: placeFragments(track, number).map((fragment) => ({ ...fragment, ...find(track, fragment) })),
  })),
});

/** The `moof` of samples that have none in their source. */
const ownMoof = ({ own }: Layout, { moof }: PlaceFragment): readonly MovieFragment[] | undefined =>
  moof && [{ bytes: own.subarray(moof.offset, moof.offset + moof.bytes), offset: 0 }];

/** The fragments of a source: those of the video without their samples, if it is the only track; others as a whole. */
async function readSource(
  source: SourceIndex,
  tracks: readonly { readonly fragments: readonly PlaceFragment[] }[],
  reading: PlaceReading,
): Promise<ReadonlyMap<number, KnownFragment>> {
  const isStreamed = source === 0 && tracks.length === 1;
  const read = new Map<number, KnownFragment>();
  for (const fragment of tracks.flatMap(({ fragments }) => fragments)) {
    const { index, first, bytes, moof } = fragment;
    if (read.has(index) || bytes === 0) continue;
    if (!isStreamed) read.set(index, await readWhole(source, fragment, reading));
    else if (!moof)
      read.set(index, { moofs: await readMoofs(await reading.readerOf(source), { offset: first, bytes }) });
  }
  return read;
}

async function readWhole(
  source: SourceIndex,
  { index, first, bytes, moof }: PlaceFragment,
  reading: PlaceReading,
): Promise<KnownFragment> {
  const { shared, extents, readerOf, parsing } = reading;
  const content = await extents.whole(
    nameOf([shared.name], 'fragment', [source, index]),
    bytes,
    async (extent) =>
      extent.appendFrom(await readerOf(source), first + extent.filled, extent.missingBytes, (offset, chunk) =>
        shared.note(source, offset, chunk),
      ),
    parsing.signal,
    shared,
  );
  return { content, moofs: moof ? [] : findMoofs(content, first) };
}

/** @param offset of the fragment in its source @throws UnsupportedMp4 when it does not consist of boxes */
function findMoofs(fragment: Buffer, offset: number): readonly MovieFragment[] {
  const boxes = [...parseBoxes(fragment)];
  if (boxes.at(-1)?.end !== fragment.length) throw new UnsupportedMp4('Segment index does not fit its file');
  return boxes
    .filter(({ type }) => type === 'moof')
    .map(({ start, end }) => ({ bytes: fragment.subarray(start, end), offset: offset + start }));
}
