/** Some memory that a client uses. */
interface Permit {
  release(): void;
}

/** The memory that a stream may use. It acquires it for all fragments that it needs at the same time, so that none waits for another. */
export interface SegmentMemory {
  acquire(bytes: number): Promise<Permit>;
  /** Undefined: there is none at present. */
  tryAcquire(bytes: number): Permit | undefined;
}

/**
 * A part of a subsegment: a view of memory, which is copied before the next part is requested, or a buffer whose ownership passes to the
 * reader. An empty view says that the next part is not there yet.
 */
export type ContentPart = Buffer | { readonly own: Buffer };

/** A subsegment that is being sent. */
export interface SubsegmentContent {
  /** All of its bytes in order. */
  readonly parts: () => AsyncIterable<ContentPart> | Iterable<ContentPart>;
  /** @param isPassed the stream goes on behind it. @default false */
  release(isPassed?: boolean): void;
}

/** How the subsegments of a file are made. */
export interface SubsegmentMaking {
  /** Bytes of memory that it takes to make a subsegment. */
  bytesOf(index: number): number;
  /** @throws what reading throws: what was taken is released then */
  make(index: number): Promise<SubsegmentContent>;
}

/** Subsegments that take no memory: their bytes pass on as they are read. */
export const passingOn = (make: SubsegmentMaking['make']): SubsegmentReading => ({
  read: async (index) => ({ ...(await make(index)), isHeld: () => true }),
  readAhead: () => undefined,
});

/** Subsegments in the memory of a client, which waits while there is none. */
export function readingOf(
  { acquire, tryAcquire }: SegmentMemory,
  { bytesOf, make }: SubsegmentMaking,
): SubsegmentReading {
  const hold = async (index: number, permit: Permit): Promise<HeldSubsegment> => {
    try {
      return holdSubsegment(await make(index), permit);
    } catch (error) {
      permit.release();
      throw error;
    }
  };
  return {
    read: async (index) => hold(index, await acquire(bytesOf(index))),
    readAhead(index) {
      const permit = tryAcquire(bytesOf(index));
      return permit && hold(index, permit);
    },
  };
}

interface HeldSubsegment extends SubsegmentContent {
  /** Whether its memory is still its own. */
  isHeld(): boolean;
}

/** Milliseconds for which a subsegment stays in memory for a client that does not take it. */
const MAX_HOLD_MS = 30_000;

/** Holds a subsegment until it is released, or its client is too slow: it is read again then. */
function holdSubsegment(content: SubsegmentContent, permit: Permit): HeldSubsegment {
  let isHeld = true;
  const release = (isPassed = false) => {
    clearTimeout(timer);
    if (!isHeld) return;
    isHeld = false;
    permit.release();
    content.release(isPassed);
  };
  const timer = setTimeout(release, MAX_HOLD_MS);
  // Browsers have numbers instead.
  timer.unref?.();
  return { isHeld: () => isHeld, parts: content.parts, release };
}

const CHUNK_BYTES = 256 * 1024;
/** Where the bytes of a file follow it, it has the header of the subsegment alone. */
const FIRST_CHUNK_BYTES = 16 * 1024;
/** What small subsegments may take that are read ahead, side by side. */
const AHEAD_BYTES = 1024 * 1024;
const MAX_AHEAD = 4;

/** A range of a file. Offsets, both included. */
interface SubsegmentRange {
  readonly header: Buffer;
  /** Where each subsegment begins, and the size of the file. */
  readonly offsets: readonly number[];
  readonly first: number;
  readonly last: number;
}

interface SubsegmentReading {
  /** Waits for the memory of the subsegment. */
  read(index: number): Promise<HeldSubsegment>;
  /** Undefined: there is no memory for it. */
  readAhead(index: number): Promise<HeldSubsegment> | undefined;
}

/**
 * The bytes of a range, which belong to the reader. While those of a subsegment are taken, the next one is read, and as many small ones as make
 * up `AHEAD_BYTES`.
 */
export async function* readSubsegments(
  { header, offsets, first, last }: SubsegmentRange,
  { read, readAhead }: SubsegmentReading,
): AsyncGenerator<Buffer> {
  if (first < header.length) yield Buffer.from(header.subarray(first, last + 1));
  const startOf = (index: number) => offsets[index] ?? 0;
  const isWanted = (index: number) => index + 1 < offsets.length && startOf(index) <= last;
  const ahead: Promise<HeldSubsegment>[] = [];
  const readOn = (index: number) => {
    for (let next = index + 1 + ahead.length; isWanted(next); next += 1) {
      const isSmall = ahead.length < MAX_AHEAD && startOf(next + 1) - startOf(index + 1) <= AHEAD_BYTES;
      const reading = ahead.length === 0 || isSmall ? readAhead(next) : undefined;
      if (!reading) return;
      reading.catch(() => undefined);
      ahead.push(reading);
    }
  };
  const from = offsets.findLastIndex((offset) => offset <= first);
  let subsegment: HeldSubsegment | undefined;
  try {
    for (let index = Math.max(0, from); isWanted(index); index += 1) {
      const start = startOf(index);
      const until = Math.min(startOf(index + 1), last + 1) - start;
      subsegment = await ahead.shift();
      for (let at = Math.max(0, first - start); at < until; ) {
        if (!subsegment?.isHeld()) {
          subsegment?.release();
          subsegment = await read(index);
        }
        for await (const chunk of copyChunks(subsegment, at, until)) {
          at += chunk.length;
          yield chunk;
          readOn(index);
        }
        if (at < until && subsegment.isHeld()) throw new RangeError('A subsegment has less bytes than planned');
      }
      subsegment?.release(isWanted(index + 1));
    }
  } finally {
    subsegment?.release();
    for (const reading of ahead) reading.then(({ release }) => release()).catch(() => undefined);
  }
}

/**
 * Copies of some bytes of a subsegment, with memory of their own, until it is not held any more.
 * @param first bytes before it are left out
 * @param end offset behind the last byte
 */
export async function* copyChunks(
  { parts, isHeld }: Pick<HeldSubsegment, 'parts' | 'isHeld'>,
  first: number,
  end: number,
): AsyncGenerator<Buffer> {
  let chunk = Buffer.alloc(0);
  let filled = 0;
  let chunkBytes = FIRST_CHUNK_BYTES;
  const take = (): Buffer => {
    const taken = chunk.subarray(0, filled);
    chunk = chunk.subarray(filled);
    filled = 0;
    return taken;
  };
  let at = 0;
  for await (const part of parts()) {
    if (!isHeld()) return;
    const isOwn = 'own' in part;
    const bytes = isOwn ? part.own : part;
    const start = Math.max(first, at);
    const wanted = bytes.subarray(start - at, Math.max(0, end - at));
    at += bytes.length;
    if (filled > 0 && (isOwn || bytes.length === 0)) yield take();
    if (isOwn && wanted.length > 0) yield wanted;
    for (let from = isOwn ? wanted.length : 0; from < wanted.length; ) {
      if (chunk.length === 0) {
        chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - start - from));
        chunkBytes = CHUNK_BYTES;
      }
      const copied = wanted.copy(chunk, filled, from);
      filled += copied;
      from += copied;
      if (filled < chunk.length) continue;
      yield take();
      if (!isHeld()) return;
    }
    if (at >= end) break;
  }
  if (filled > 0) yield take();
}
