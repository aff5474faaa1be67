import { type Cache, createCache } from '@reelay/concurrency';
import { type MovieFragment, parseBoxes, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type Layout,
  type PlaceFragment,
  placeFragments,
  placeTimes,
  type SourceIndex,
} from '@reelay/seekable-media/virtual-mp4';
import { memoryShares } from '../../../core/config/index.ts';
import { ARRANGE_MUXED_PLACE, type ParsingOptions, parse } from '../../../core/parsing/index.ts';
import type { ByteReader } from './byte-reader.ts';
import { readMoofs } from './read-movie-fragments.ts';

/**
 * Places that were read recently, and the fragments of audio that they share: players open a connection for each place, and would read
 * the sources several times.
 */
export interface PlaceCache {
  /**
   * @param id of the layout and its sources
   * @param number of the place
   */
  get(id: string, layout: Layout, number: number, bytes: number): CachedPlace;
  /** Whether all bytes of a place are there. */
  has(id: string, number: number): boolean;
}

const MAX_ENTRIES = 4096;
const IDLE = { afterMs: 30_000, maxWeight: 16 * 1024 * 1024 };

export function createPlaceCache(): PlaceCache {
  const options = { maxEntries: MAX_ENTRIES, idle: IDLE };
  // Of all layouts together.
  const { placeBytes } = memoryShares();
  const places = createCache<string, CachedPlace>({
    ...options,
    maxWeight: placeBytes,
    weightOf: ({ bytes }) => bytes,
  });
  const fragments = createCache<string, Buffer>({
    ...options,
    maxWeight: placeBytes / 4,
    weightOf: ({ length }) => length,
  });
  return {
    get(id, layout, number, bytes) {
      const key = `${id} ${number}`;
      return places.get(key) ?? places.set(key, new CachedPlace({ id, layout, number, bytes, fragments }));
    },
    has: (id, number) => places.get(`${id} ${number}`)?.isComplete ?? false,
  };
}

interface PlaceOptions {
  readonly id: string;
  readonly layout: Layout;
  readonly number: number;
  readonly bytes: number;
  readonly fragments: Cache<string, Buffer>;
}

interface KnownFragment {
  readonly moofs: readonly MovieFragment[];
  /** All of its bytes, where they are in memory. */
  readonly content?: Buffer;
}

/** The reader of a source, at any position. */
type ReaderOf = (source: SourceIndex) => Promise<ByteReader>;

/** A part of a place: bytes in memory, or of a source. */
type Part =
  | { readonly bytes: Buffer }
  | { readonly source: SourceIndex; readonly first: number; readonly bytes: number };

const bytesOf = ({ bytes }: Part): number => (typeof bytes === 'number' ? bytes : bytes.length);

/**
 * The bytes of a place, which are read in order as far as one of its readers needs them, by the sources of that reader: nothing is
 * read ahead of what clients take, and another reader goes on where one has left.
 */
export class CachedPlace {
  readonly bytes: number;
  readonly #options: PlaceOptions;
  readonly #content: Buffer;
  #filled = 0;
  #parts: readonly Part[] | undefined;
  #busy: Promise<void> | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.bytes = options.bytes;
    this.#content = Buffer.allocUnsafeSlow(options.bytes);
  }

  get isComplete(): boolean {
    return this.#filled === this.bytes;
  }

  /**
   * A copy of some bytes, as many as are there, of at most `maxBytes`.
   * @param at offset in the place
   * @throws UnsupportedMp4 when the samples are not what the index says, and what reading the sources throws
   */
  async read(at: number, maxBytes: number, readerOf: ReaderOf, options: ParsingOptions): Promise<Buffer> {
    while (this.#filled <= at) {
      // The failure of another reader's sources is not that of this one.
      if (this.#busy) await this.#busy.catch(() => undefined);
      else {
        this.#busy = this.#advance(readerOf, options).finally(() => {
          this.#busy = undefined;
          // They have whole fragments of audio.
          if (this.isComplete) this.#parts = undefined;
        });
        await this.#busy;
      }
    }
    return Buffer.from(this.#content.subarray(at, Math.min(this.#filled, at + maxBytes)));
  }

  /** Adds some bytes. */
  async #advance(readerOf: ReaderOf, options: ParsingOptions): Promise<void> {
    this.#parts ??= await this.#arrange(readerOf, options);
    let start = 0;
    for (const part of this.#parts) {
      const bytes = bytesOf(part);
      const done = this.#filled - start;
      if (done < bytes) return this.#copy(part, done, readerOf);
      start += bytes;
    }
    throw new RangeError('A place has less bytes than planned');
  }

  /** Copies what is there of a part, from an offset in it on. */
  async #copy(part: Part, done: number, readerOf: ReaderOf): Promise<void> {
    if (!('source' in part)) {
      this.#filled += part.bytes.copy(this.#content, this.#filled, done);
      return;
    }
    const reader = await readerOf(part.source);
    reader.seek(part.first + done);
    for (let left = part.bytes - done; left > 0; ) {
      const chunk = reader.take(left);
      if (!chunk) {
        if (left < part.bytes - done) return;
        await reader.ready();
        continue;
      }
      this.#filled += chunk.copy(this.#content, this.#filled);
      left -= chunk.length;
    }
  }

  async #arrange(readerOf: ReaderOf, options: ParsingOptions): Promise<readonly Part[]> {
    const { layout, number, bytes } = this.#options;
    const wanted = layout.placeTracks.map((track) => ({ track, fragments: placeFragments(track, number) }));
    const sources = await Promise.all(
      [...Map.groupBy(wanted, ({ track }) => track.source)].map(async ([source, tracks]) => {
        return [source, await this.#readSource(source, tracks, readerOf)] as const;
      }),
    );
    const read = new Map(sources);
    const tracks = wanted.map(({ track, fragments }) => ({
      source: track.source,
      sourceId: track.sourceId,
      defaults: track.defaults,
      factor: track.factor,
      shift: track.shift,
      times: placeTimes(track, number),
      fragments: fragments.map((fragment) => ({
        ...fragment,
        moofs: this.#ownMoof(fragment) ?? read.get(track.source)?.get(fragment.index)?.moofs ?? [],
      })),
    }));
    const { head, tail, spans } = await parse(ARRANGE_MUXED_PLACE, { bytes, sequence: number + 1, tracks }, options);
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

  /** The `moof` of samples that have none in their source. */
  #ownMoof({ moof }: PlaceFragment): readonly MovieFragment[] | undefined {
    const { own } = this.#options.layout;
    return moof && [{ bytes: own.subarray(moof.offset, moof.offset + moof.bytes), offset: 0 }];
  }

  /** The fragments of a source: those of the video without their samples, if it is the only track; others as a whole. */
  async #readSource(
    source: SourceIndex,
    tracks: readonly { readonly fragments: readonly PlaceFragment[] }[],
    readerOf: ReaderOf,
  ): Promise<ReadonlyMap<number, KnownFragment>> {
    const isStreamed = source === 0 && tracks.length === 1;
    const read = new Map<number, KnownFragment>();
    for (const fragment of tracks.flatMap(({ fragments }) => fragments)) {
      const { index, first, bytes, moof } = fragment;
      if (read.has(index) || bytes === 0) continue;
      if (!isStreamed) read.set(index, await this.#readWhole(source, fragment, readerOf));
      else if (!moof) read.set(index, { moofs: await readMoofs(await readerOf(source), { offset: first, bytes }) });
    }
    return read;
  }

  async #readWhole(
    source: SourceIndex,
    { index, first, bytes, moof }: PlaceFragment,
    readerOf: ReaderOf,
  ): Promise<KnownFragment> {
    const { id, fragments } = this.#options;
    const key = `${id} ${source} ${index}`;
    let content = fragments.get(key);
    if (!content) {
      const reader = await readerOf(source);
      reader.seek(first);
      content = fragments.set(key, await reader.read(bytes));
    }
    return { content, moofs: moof ? [] : findMoofs(content, first) };
  }
}

/** @param offset of the fragment in its source @throws UnsupportedMp4 when it does not consist of boxes */
function findMoofs(fragment: Buffer, offset: number): readonly MovieFragment[] {
  const boxes = [...parseBoxes(fragment)];
  if (boxes.at(-1)?.end !== fragment.length) throw new UnsupportedMp4('Segment index does not fit its file');
  return boxes
    .filter(({ type }) => type === 'moof')
    .map(({ start, end }) => ({ bytes: fragment.subarray(start, end), offset: offset + start }));
}
