import type { Readable } from 'node:stream';
import { generatedStream } from '@reelay/guarded-fetch';
import { type PackedPlace, runParts } from '@reelay/seekable-media/isobmff';
import { type Layout, placeFragments, type SourceIndex } from '@reelay/seekable-media/virtual-mp4';
import type { FileSource } from '@reelay/source';
import {
  type PlaceContent,
  type PlacesInMemory,
  readingOf,
  readPlaces,
  type TakenPlace,
} from '@reelay/source/placed-file';
import { ARRANGE_MUXED_PLACE, parse } from '../../../core/parsing/index.ts';
import { requestOf } from './muxed-places.ts';

export interface MadePlacesOptions {
  readonly layout: Layout;
  /** By source, each made here. */
  readonly files: readonly Pick<FileSource, 'places'>[];
  /** Offsets, both included. */
  readonly first: number;
  readonly last: number;
  /** The client whose share of parsing is used. */
  readonly client: string | undefined;
}

/**
 * Reads a range of a layout whose sources are made here, too: their samples are written once, as those of its places.
 * @throws what reading the sources throws, and UnsupportedMp4 where they are not what their tables say
 */
export function readMadePlaces({ layout, files, first, last, client }: MadePlacesOptions): Readable {
  const ended = new AbortController();
  const { signal } = ended;
  const places = placeExtents(layout);
  const placesOf = (source: SourceIndex): PlacesInMemory => {
    const made = files[source]?.places;
    if (!made) throw new TypeError(`Source ${source} is not made here`);
    return made;
  };

  const take = async ({ source, index, isShared }: WantedFragment): Promise<TakenPlace> => {
    const { place, release } = await placesOf(source).take(index, signal);
    return { place, release: (isPassed = false) => release(isPassed && !isShared) };
  };

  const make = async (number: number): Promise<PlaceContent> => {
    const wanted = fragmentsOf(layout, number);
    const taking = wanted.map(take);
    try {
      const taken = await Promise.all(taking);
      const find = (source: SourceIndex, index: number): PackedPlace | undefined =>
        taken[wanted.findIndex((each) => each.source === source && each.index === index)]?.place;
      const runOf = ({ source, sourceId }: Layout['placeTracks'][number], index: number) =>
        find(source, index)?.runs.find(({ trackId }) => trackId === sourceId) ?? null;
      const { bytes, text } = places[number] ?? { bytes: 0, text: NO_BYTES };
      const request = requestOf(layout, { number, bytes }, (track, { index }) => ({
        moofs: [],
        run: runOf(track, index),
      }));
      const { head, tail, spans } = await parse(ARRANGE_MUXED_PLACE, request, { client, signal });
      const parts = function* () {
        yield head;
        for (const [index, track] of layout.placeTracks.entries()) {
          const fragments = placeFragments(track, number);
          for (const { first, bytes } of spans[index] ?? []) {
            const fragment = fragments.find((each) => first >= each.first && first < each.first + each.bytes);
            const place = fragment && find(track.source, fragment.index);
            const run = place && runOf(track, fragment.index);
            if (run) yield* runParts(place, run, first - fragment.first, first - fragment.first + bytes);
          }
        }
        yield tail;
        yield text;
      };
      return { taken, parts };
    } catch (error) {
      for (const each of taking) each.then(({ release }) => release()).catch(() => undefined);
      throw error;
    }
  };

  const bytesOf = (number: number): number =>
    fragmentsOf(layout, number).reduce((sum, { source, index }) => sum + placesOf(source).bytesOf(index), 0);
  const { sourceOffset } = layout.extent(0);
  const header = layout.own.subarray(sourceOffset, sourceOffset + layout.mediaStart);
  const offsets = [...places.map(({ start }) => start), layout.size];
  const reading = readingOf(placesOf(0), { bytesOf, make }, signal);
  return generatedStream(readPlaces({ header, offsets, first, last }, reading), () =>
    ended.abort(new Error('Reading ended')),
  );
}

const NO_BYTES = Buffer.alloc(0);

/** A place of a layout, and the text behind it. */
interface PlaceExtent {
  /** Offset in the output. */
  readonly start: number;
  /** Without the text. */
  readonly bytes: number;
  readonly text: Buffer;
}

function placeExtents(layout: Layout): readonly PlaceExtent[] {
  const extents = Array.from({ length: layout.count }, (_, index) => layout.extent(index));
  return extents.flatMap(({ kind, start, bytes }, index) => {
    const next = extents[index + 1];
    const text =
      next?.kind === 'own' ? layout.own.subarray(next.sourceOffset, next.sourceOffset + next.bytes) : NO_BYTES;
    return kind === 'place' ? [{ start, bytes, text }] : [];
  });
}

interface WantedFragment {
  readonly source: SourceIndex;
  readonly index: number;
  /** The next place needs it, too. */
  readonly isShared: boolean;
}

/** The fragments that a place has samples of, each once. */
function fragmentsOf({ placeTracks }: Layout, number: number): readonly WantedFragment[] {
  const wanted = placeTracks.flatMap((track) =>
    placeFragments(track, number).map(({ index, pieces, to }) => ({
      source: track.source,
      index,
      isShared: to < pieces.length - 1,
    })),
  );
  return [...new Map(wanted.map((each) => [`${each.source} ${each.index}`, each])).values()];
}
