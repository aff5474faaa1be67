import { Readable } from 'node:stream';
import { MP3_FRAME_BYTES } from '../../../core/conversions/mp3/index.ts';
import type { Release } from '../../sessions/index.ts';
import { type FrameRange, type Layout, nextFrameRange, SEGMENT_FRAMES, tagSlice } from './layout.ts';
import { type SegmentBuffer, startSegmentBuffer } from './segment-buffer.ts';
import { splitRemaining } from './split-remaining.ts';

export interface RangedStreamOptions {
  readonly layout: Layout;
  readonly tag: Buffer;
  /** Encodes the bytes of a piece. */
  readonly encode: (piece: FrameRange, signal: AbortSignal) => AsyncIterable<Buffer>;
  /** A turn at encoding; not `patient` when the client can still be told that there is none. */
  readonly acquire: (signal: AbortSignal, patient: boolean) => Promise<Release>;
  /** Segments under way at once, behind the one that is sent, for a client that takes all it can get. */
  readonly parallelism: number;
}

/** Bytes that lie in memory for a slow client: 12 s. A client is a fast one once it has taken as many without a rest. */
const LITTLE_BYTES = 500 * MP3_FRAME_BYTES;
/** For a fast one: a whole segment, 3.5 MB, for each that is under way. */
const MUCH_BYTES = SEGMENT_FRAMES * MP3_FRAME_BYTES;
/** Milliseconds that a client may take for a chunk, some 30 kB, and still be a fast one. */
const REST_MS = 250;

/**
 * Sends a byte range (both ends included) of a conversion: segments are encoded side by side, in order on the wire, a
 * bounded way ahead of the client: 3.5 MB for the segment that is sent and for each of those behind it. While the client
 * takes what there is, an encoder runs through to the end of its segment, and every core is kept busy; for one that
 * rests only a little is kept, and the encoder ends. Destroying the stream ends its encoders.
 */
export function rangedStream(first: number, last: number, options: RangedStreamOptions): Readable {
  const controller = new AbortController();
  const body = Readable.from(bytes(first, last, options, controller.signal), { objectMode: false });
  body.once('close', () => controller.abort());
  return body;
}

async function* bytes(
  first: number,
  last: number,
  { layout, tag, encode, acquire, parallelism }: RangedStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const pending: SegmentBuffer[] = [];
  let cursor = Math.max(first, layout.tagBytes);
  /** Bytes taken since the client rested. */
  let taken = 0;
  /** The client can still be told that there is no turn. */
  let isUnanswered = true;
  const isFast = () => taken >= LITTLE_BYTES;

  async function* encodeInTurn(from: number, to: number): AsyncGenerator<Buffer> {
    const piece = nextFrameRange(layout, from, to, SEGMENT_FRAMES);
    if (!piece) return;
    const release = await acquire(signal, !isUnanswered);
    try {
      yield* encode(piece, signal);
    } finally {
      release();
    }
  }

  /** Frames of the rest of a segment for the next encoder. */
  const nextShare = (segment: number, begun: readonly SegmentBuffer[]): number => {
    if (!isFast()) return segment;
    const left = Math.ceil((last + 1 - cursor) / MP3_FRAME_BYTES);
    return splitRemaining({ begun: begun.map(missingFrames), segment, left, encoders: parallelism });
  };

  const startNext = (begun: readonly SegmentBuffer[] = []): SegmentBuffer | undefined => {
    const rest = nextFrameRange(layout, cursor, last, SEGMENT_FRAMES);
    const piece = rest && nextFrameRange(layout, cursor, last, nextShare(rest.endFrame - rest.firstFrame, begun));
    if (!piece) return undefined;
    const from = cursor;
    cursor += piece.slice[1] - piece.slice[0];
    const room = () => (isFast() ? MUCH_BYTES : LITTLE_BYTES);
    return startSegmentBuffer({ first: from, last: cursor - 1, encode: encodeInTurn, room });
  };

  /** Whoever is slow needs the next segment only when this one is there. */
  const lookAhead = (current: SegmentBuffer) => {
    const wanted = isFast() ? parallelism : Number(current.missingBytes === 0);
    while (pending.length < wanted) {
      const next = startNext([current, ...pending]);
      if (!next) return;
      pending.push(next);
    }
  };

  // The tag waits for the first frames: before them, a failure can still be answered.
  let head = tag.subarray(...tagSlice(layout, first, last));
  for (let current = startNext(); current; current = pending.shift() ?? startNext()) {
    for (let chunk = await current.take(); chunk; chunk = await current.take()) {
      isUnanswered = false;
      lookAhead(current);
      const offered = performance.now();
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      taken = performance.now() - offered > REST_MS ? 0 : taken + chunk.length;
      head = head.subarray(head.length);
    }
  }
  if (head.length > 0) yield head;
}

const missingFrames = ({ missingBytes }: SegmentBuffer): number => Math.ceil(missingBytes / MP3_FRAME_BYTES);
