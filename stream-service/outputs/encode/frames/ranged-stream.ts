import type { Readable } from 'node:stream';
import { generatedStream } from '@reelay/guarded-fetch';
import { nameOf } from '@reelay/source/names';
import type { Release } from '../../../sessions/index.ts';
import type { AdvanceExtent, ComputedExtent, ComputedExtents, SharedFile } from '../../computed-extents.ts';
import { type FrameRange, type Layout, nextFrameRange, tagSlice, unitAt } from './layout.ts';
import { type SegmentBuffer, startSegmentBuffer } from './segment-buffer.ts';

export interface RangedStreamOptions {
  readonly layout: Layout;
  readonly tag: Buffer;
  /** @param ofStream aborted when none of its ranges is encoded any more */
  readonly encode: (range: FrameRange, signal: AbortSignal, ofStream: AbortSignal) => AsyncIterable<Buffer>;
  /** Takes an encoder slot; `hasStarted`: the client has bytes, so that a refusal can no longer be answered. */
  readonly acquire: (signal: AbortSignal, hasStarted: boolean) => Promise<Release>;
  /** Where units of it are kept: further short ranges nearby start no encoder. */
  readonly extents: ComputedExtents;
  /** The conversion. */
  readonly shared: SharedFile;
  /** Segments encoded concurrently ahead of the one that is sent, for a fast client. */
  readonly parallelism: number;
}

/** Buffered for a slow client: 12 s. A client counts as fast once it has read as many bytes without a pause. */
const SLOW_CLIENT_BUFFER_FRAMES = 500;
/** Part of a segment that a fast client has read before the next segment is started: until then it may only look. */
const SHARE_BEFORE_NEXT = 1 / 4;
/** A client that takes longer to read a chunk, about 30 kB, counts as slow. */
const MAX_CHUNK_MS = 250;

/**
 * Reads a byte range (both ends included) of a conversion. Segments are encoded concurrently and sent in order. At most
 * a whole segment (3.5 MB of MP3 at 192 kbit/s) is buffered for each. For a fast client encoders run to the end of
 * their segments and use every core; for a slow one only a short buffer is kept, and its encoder ends. Destroying the
 * stream ends its encoders, except one whose unit other streams wait for.
 */
export function rangedStream(first: number, last: number, options: RangedStreamOptions): Readable {
  const controller = new AbortController();
  const { frameBytes, unitFrames } = options.layout.encoding;
  const read = last - first < unitFrames * frameBytes ? readUnits : readSegments;
  const parts = read(first, last, options, controller.signal);
  return generatedStream(parts, () => controller.abort(new Error('Reading ended')));
}

/** Reads a short range out of whole units. */
async function* readUnits(
  first: number,
  last: number,
  { layout, tag, encode, acquire, extents, shared }: RangedStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let head = tag.subarray(...tagSlice(layout, first, last));
  const start = Math.max(first, layout.tagBytes);
  const ended = new AbortController();
  let encoding: Promise<void> | undefined;
  const encodeUnit = async (unit: ComputedExtent, range: FrameRange, hasStarted: boolean, shared: AbortSignal) => {
    const release = await acquire(shared, hasStarted);
    try {
      // As a whole: a part of one does not say which encoder goes on with it.
      const chunks: Buffer[] = [];
      for await (const chunk of encode(range, shared, ended.signal)) chunks.push(chunk);
      unit.append(Buffer.concat(chunks));
    } finally {
      release();
    }
  };
  try {
    for (let at = start; at <= last; ) {
      const { range, offset } = unitAt(layout, at);
      const advance: AdvanceExtent = (unit, until) => {
        encoding = encodeUnit(unit, range, at > start, until);
        return encoding;
      };
      const name = nameOf([shared.name], 'unit', [range.firstFrame, range.endFrame]);
      const unit = await extents.whole(name, range.slice[1], advance, signal, shared);
      const bytes = unit.subarray(at - offset, last + 1 - offset);
      at += bytes.length;
      yield Buffer.concat([head, bytes]);
      head = head.subarray(head.length);
    }
    if (head.length > 0) yield head;
  } finally {
    // Other streams may wait for the unit.
    await encoding?.catch(() => undefined);
    ended.abort();
  }
}

async function* readSegments(
  first: number,
  last: number,
  { layout, tag, encode, acquire, parallelism }: RangedStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { frameBytes, segmentFrames } = layout.encoding;
  const slowBufferBytes = SLOW_CLIENT_BUFFER_FRAMES * frameBytes;
  /** For a fast client: a whole segment for each encoder. */
  const fastBufferBytes = segmentFrames * frameBytes;
  const pending: SegmentBuffer[] = [];
  let cursor = Math.max(first, layout.tagBytes);
  /** Bytes read since the last pause of the client. */
  let taken = 0;
  /** No byte has been sent: a failure can still be answered. */
  let isUnanswered = true;
  /** When the chunk that is being read was offered. */
  let offeredAt = Number.POSITIVE_INFINITY;
  const isFast = () => taken >= slowBufferBytes && performance.now() - offeredAt <= MAX_CHUNK_MS;

  async function* encodeInSlot(from: number, to: number): AsyncGenerator<Buffer> {
    const range = nextFrameRange(layout, from, to, segmentFrames);
    if (!range) return;
    const release = await acquire(signal, !isUnanswered);
    try {
      yield* encode(range, signal, signal);
    } finally {
      release();
    }
  }

  /** Frames of the rest of a segment that the next encoder should take. */
  const nextShare = (segment: number, begun: readonly SegmentBuffer[]): number => {
    if (!isFast()) return segment;
    const left = Math.ceil((last + 1 - cursor) / frameBytes);
    return splitRemaining({
      begun: begun.map(({ missingBytes }) => Math.ceil(missingBytes / frameBytes)),
      segment,
      left,
      encoders: parallelism,
    });
  };

  const startNext = (begun: readonly SegmentBuffer[] = []): SegmentBuffer | undefined => {
    const rest = nextFrameRange(layout, cursor, last, segmentFrames);
    const range = rest && nextFrameRange(layout, cursor, last, nextShare(rest.endFrame - rest.firstFrame, begun));
    if (!range) return undefined;
    const from = cursor;
    cursor += range.slice[1] - range.slice[0];
    const maxBufferedBytes = () => (isFast() ? fastBufferBytes : slowBufferBytes);
    return startSegmentBuffer({ first: from, last: cursor - 1, encode: encodeInSlot, maxBufferedBytes });
  };

  /** Segments that may be encoded ahead: what is encoded grows with what has been read. */
  const mayEncode = (current: SegmentBuffer): number => {
    // For a slow client the next segment starts only when the current one is encoded.
    if (!isFast() || taken < fastBufferBytes * SHARE_BEFORE_NEXT) return Number(current.missingBytes === 0);
    return taken < fastBufferBytes ? 1 : parallelism;
  };

  const encodeAhead = (current: SegmentBuffer) => {
    const wanted = mayEncode(current);
    while (pending.length < wanted) {
      const next = startNext([current, ...pending]);
      if (!next) return;
      pending.push(next);
    }
  };

  // The tag is sent with the first frames: until then, a failure can still be answered.
  let head = tag.subarray(...tagSlice(layout, first, last));
  for (let current = startNext(); current; current = pending.shift() ?? startNext()) {
    for (let chunk = await current.take(); chunk; chunk = await current.take()) {
      isUnanswered = false;
      encodeAhead(current);
      offeredAt = performance.now();
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      taken = performance.now() - offeredAt > MAX_CHUNK_MS ? 0 : taken + chunk.length;
      offeredAt = Number.POSITIVE_INFINITY;
      head = head.subarray(head.length);
    }
  }
  if (head.length > 0) yield head;
}

/** Fewer frames (24 s) are not worth the start and warm-up of another encoder. */
const MIN_FRAMES = 1000;

export interface RemainingFrames {
  /** Frames left of each range in progress, in the order in which encoders take them. */
  readonly begun: readonly number[];
  /** Frames of the segment that have not been started. */
  readonly segment: number;
  /** Frames of the whole conversion that have not been started, that segment included. */
  readonly left: number;
  readonly encoders: number;
}

/**
 * How many frames of the segment the next encoder should take. All of them, except near the end: there the last segment
 * would keep one encoder busy while the others idle, so the rest is split for all encoders to finish together.
 */
export function splitRemaining({ begun, segment, left, encoders }: RemainingFrames): number {
  const busy = new Array<number>(encoders).fill(0);
  for (const frames of begun) {
    const first = Math.min(...busy);
    busy[busy.indexOf(first)] = first + frames;
  }
  const end = busy.reduce((sum, frames) => sum + frames, left) / encoders;
  const share = Math.max(Math.ceil(end - Math.min(...busy)), MIN_FRAMES);
  return segment - share < MIN_FRAMES ? segment : share;
}
