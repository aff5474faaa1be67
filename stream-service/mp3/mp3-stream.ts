import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Release } from '../admission.ts';
import { answerable } from './failures.ts';
import { type Layout, nextPiece, type Piece, SEGMENT_FRAMES, tagSlice } from './layout.ts';

export interface Mp3StreamOptions {
  readonly layout: Layout;
  readonly tag: Buffer;
  /** Encodes the bytes of a piece. */
  readonly encode: (piece: Piece, signal: AbortSignal) => AsyncIterable<Buffer>;
  /** A turn at encoding; not `patient` when the client can still be told that there is none. */
  readonly acquire: (signal: AbortSignal, patient: boolean) => Promise<Release>;
  /** Pieces under way at once for a client that takes all it can get. */
  readonly parallelism: number;
}

/** Frames of the first piece, and of every piece for a slow client: 12 s, 288 kB. */
const FEWEST_FRAMES = 500;

/** A piece on its way into memory. */
interface Pending {
  readonly bytes: PassThrough;
  /** All of it is there. */
  complete: boolean;
}

/**
 * Sends a byte range (both ends included) of a conversion: pieces are encoded side by side, in order on the wire, a
 * bounded way ahead of the client. The way grows while the client waits for us and shrinks while we wait for it, so that
 * a fast one keeps every core busy and a slow one costs little memory. Destroying the stream ends its encoders.
 */
export function mp3Stream(first: number, last: number, options: Mp3StreamOptions): Readable {
  const controller = new AbortController();
  const body = Readable.from(answerable(bytes(first, last, options, controller.signal)), { objectMode: false });
  body.once('close', () => controller.abort());
  return body;
}

async function* bytes(
  first: number,
  last: number,
  { layout, tag, encode, acquire, parallelism }: Mp3StreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const pending: Pending[] = [];
  let cursor = Math.max(first, layout.tagBytes);
  let frames = FEWEST_FRAMES;
  let ahead = 1;

  const fill = (patient: boolean) => {
    while (pending.length < ahead) {
      const piece = nextPiece(layout, cursor, last, frames);
      if (!piece) return;
      cursor += piece.slice[1] - piece.slice[0];
      pending.push(start(piece, patient));
    }
  };

  const start = (piece: Piece, patient: boolean): Pending => {
    // Room for all of the piece: an encoder never waits for the client, so its turn is a short one.
    const into = { bytes: new PassThrough({ highWaterMark: piece.slice[1] - piece.slice[0] }), complete: false };
    into.bytes.on('error', () => undefined); // It is met when its turn on the wire comes.
    pipeline(encodeInTurn(piece, patient), into.bytes, { signal }).then(
      () => {
        into.complete = true;
      },
      () => undefined,
    );
    return into;
  };

  async function* encodeInTurn(piece: Piece, patient: boolean): AsyncGenerator<Buffer> {
    const release = await acquire(signal, patient);
    try {
      yield* encode(piece, signal);
    } finally {
      release();
    }
  }

  // The tag waits for the first frames: before them, a failure can still be answered.
  let head = tag.subarray(...tagSlice(layout, first, last));
  fill(false);
  for (let current = pending.shift(); current; current = pending.shift()) {
    fill(true);
    for await (const chunk of current.bytes) {
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      head = head.subarray(head.length);
    }
    const waits = pending[0]?.complete === false;
    frames = waits ? Math.min(frames * 2, SEGMENT_FRAMES) : Math.max(frames / 2, FEWEST_FRAMES);
    ahead = waits ? parallelism : 1;
    fill(true);
  }
  if (head.length > 0) yield head;
}
