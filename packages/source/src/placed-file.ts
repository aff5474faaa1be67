import type { Permit } from '@reelay/concurrency';
import { copyChunks, type PackedPlace } from '@reelay/seekable-media/isobmff';

/** The places of a file that is made here, as the samples of its sources. */
export interface PlacesInMemory {
  /** Bytes of memory that a place takes at most. */
  bytesOf(index: number): number;
  /** Memory for the client of the file. Whoever needs several places at once acquires it for all of them. */
  acquire(bytes: number, signal: AbortSignal): Promise<Permit>;
  /** Undefined: there is none at present. */
  tryAcquire(bytes: number): Permit | undefined;
  /** A place, which stays in memory until it is released. @throws what reading the file throws */
  take(index: number, signal: AbortSignal): Promise<TakenPlace>;
}

export interface TakenPlace {
  readonly place: PackedPlace;
  /** @param isPassed the client goes on behind it */
  release(isPassed?: boolean): void;
}

/** What a place is made of. */
export interface PlaceContent {
  readonly taken: readonly TakenPlace[];
  /** All of its bytes in order, as they lie in memory. */
  readonly parts: () => Iterable<Buffer>;
}

/** How the places of a file are made. */
export interface PlaceMaking {
  /** Bytes of memory that it takes to make a place. */
  bytesOf(index: number): number;
  /** @throws what reading throws: what was taken is released then */
  make(index: number): Promise<PlaceContent>;
}

/** The places of a file in the memory of a client, which waits while there is none. */
export function readingOf(
  { acquire, tryAcquire }: Pick<PlacesInMemory, 'acquire' | 'tryAcquire'>,
  { bytesOf, make }: PlaceMaking,
  signal: AbortSignal,
): PlaceReading {
  const hold = async (index: number, permit: Permit): Promise<HeldPlace> => {
    try {
      return holdPlace(await make(index), permit);
    } catch (error) {
      permit.release();
      throw error;
    }
  };
  return {
    read: async (index) => hold(index, await acquire(bytesOf(index), signal)),
    readAhead(index) {
      const permit = tryAcquire(bytesOf(index));
      return permit && hold(index, permit);
    },
  };
}

/** A place that a stream sends. */
interface HeldPlace {
  /** Whether its memory is still its own. */
  isHeld(): boolean;
  parts(): Iterable<Buffer>;
  /** @param isPassed the stream goes on behind it */
  release(isPassed?: boolean): void;
}

/** Milliseconds for which a place stays in memory for a client that does not take it. */
const MAX_HOLD_MS = 30_000;

/** Holds a place until it is released, or its client is too slow: it is read again then. */
function holdPlace({ taken, parts }: PlaceContent, permit: Permit): HeldPlace {
  let isHeld = true;
  const release = (isPassed = false) => {
    clearTimeout(timer);
    if (!isHeld) return;
    isHeld = false;
    permit.release();
    for (const each of taken) each.release(isPassed);
  };
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  return { isHeld: () => isHeld, parts, release };
}

const CHUNK_BYTES = 256 * 1024;
/** What small places may take that are read ahead, side by side. */
const AHEAD_BYTES = 1024 * 1024;
const MAX_AHEAD = 4;

/** A range of a file. Offsets, both included. */
interface PlacedRange {
  readonly header: Buffer;
  /** Where each place begins, and the size of the file. */
  readonly offsets: ArrayLike<number>;
  readonly first: number;
  readonly last: number;
}

interface PlaceReading {
  /** Waits for the memory of the place. */
  read(index: number): Promise<HeldPlace>;
  /** Undefined: there is no memory for it. */
  readAhead(index: number): Promise<HeldPlace> | undefined;
}

/**
 * The bytes of a range, which belong to the reader. While those of a place are taken, the next one is read, and as many small ones as make
 * up `AHEAD_BYTES`.
 */
export async function* readPlaces(
  { header, offsets, first, last }: PlacedRange,
  { read, readAhead }: PlaceReading,
): AsyncGenerator<Buffer> {
  if (first < header.length) yield Buffer.from(header.subarray(first, last + 1));
  const startOf = (index: number) => offsets[index] ?? 0;
  const isWanted = (index: number) => index + 1 < offsets.length && startOf(index) <= last;
  const ahead: Promise<HeldPlace>[] = [];
  const readOn = (index: number) => {
    for (let next = index + 1 + ahead.length; isWanted(next); next += 1) {
      const isSmall = ahead.length < MAX_AHEAD && startOf(next + 1) - startOf(index + 1) <= AHEAD_BYTES;
      const reading = ahead.length === 0 || isSmall ? readAhead(next) : undefined;
      if (!reading) return;
      reading.catch(() => undefined);
      ahead.push(reading);
    }
  };
  let place: HeldPlace | undefined;
  try {
    for (let index = placeAt(offsets, first); isWanted(index); index += 1) {
      const start = startOf(index);
      const until = Math.min(startOf(index + 1), last + 1) - start;
      place = await ahead.shift();
      for (let at = Math.max(0, first - start); at < until; ) {
        if (!place?.isHeld()) {
          place?.release();
          place = await read(index);
        }
        for (const chunk of copyChunks(place.parts(), at, until, CHUNK_BYTES)) {
          at += chunk.length;
          yield chunk;
          readOn(index);
          if (!place.isHeld()) break;
        }
      }
      place?.release(isWanted(index + 1));
    }
  } finally {
    place?.release();
    for (const reading of ahead) reading.then(({ release }) => release()).catch(() => undefined);
  }
}

/** The place that has an offset; the first one for what is before all of them. */
function placeAt(offsets: ArrayLike<number>, offset: number): number {
  let low = 0;
  for (let high = offsets.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
