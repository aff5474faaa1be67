import type { Readable } from 'node:stream';
import { generatedStream } from '@reelay/guarded-fetch';
import { nameOf } from '@reelay/source/names';
import type { Release } from '../../../sessions/index.ts';
import type { AdvanceExtent, ComputedExtent, ComputedExtents, SharedFile } from '../../computed-extents.ts';
import { type FrameLayout, type FrameRange, nextFrameRange, tagSlice, unitAt } from './frame-layout.ts';

export interface RangedStreamOptions {
  readonly layout: FrameLayout;
  readonly tag: Buffer;
  /** @param ofStream aborted when none of its ranges is encoded any more */
  readonly encode: (range: FrameRange, signal: AbortSignal, ofStream: AbortSignal) => AsyncIterable<Buffer>;
  /** Takes an encoder slot; `hasStarted`: the client has bytes, so that a refusal can no longer be answered. */
  readonly acquire: (signal: AbortSignal, hasStarted: boolean) => Promise<Release>;
  /** Where units of it are kept: further short ranges nearby start no encoder. */
  readonly extents: ComputedExtents;
  /** The conversion. */
  readonly shared: SharedFile;
  /** Groups encoded concurrently ahead of the one that is sent, for a fast client. */
  readonly parallelism: number;
}

/** Buffered for a slow client: 12 s. A client counts as fast once it has read as many bytes without a pause. */
const SLOW_CLIENT_BUFFER_FRAMES = 500;
/** Part of a group that a fast client has read before the next group is started: until then it may only look. */
const SHARE_BEFORE_NEXT = 1 / 4;
/** A client that takes longer to read a chunk, about 30 kB, counts as slow. */
const MAX_CHUNK_MS = 250;

/**
 * Reads a byte range (both ends included) of a conversion. Groups are encoded concurrently and sent in order. At most
 * a whole group (3.5 MB of MP3 at 192 kbit/s) is buffered for each. For a fast client encoders run to the end of
 * their groups and use every core; for a slow one only a short buffer is kept, and its encoder ends. Destroying the
 * stream ends its encoders, except one whose unit other streams wait for.
 */
export function rangedStream(first: number, last: number, options: RangedStreamOptions): Readable {
  const controller = new AbortController();
  const { frameBytes, unitFrames } = options.layout.encoding;
  const read = last - first < unitFrames * frameBytes ? readUnits : readGroups;
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

async function* readGroups(
  first: number,
  last: number,
  { layout, tag, encode, acquire, parallelism }: RangedStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { frameBytes, groupFrames } = layout.encoding;
  const slowBufferBytes = SLOW_CLIENT_BUFFER_FRAMES * frameBytes;
  /** For a fast client: a whole group for each encoder. */
  const fastBufferBytes = groupFrames * frameBytes;
  const pending: FrameGroupBuffer[] = [];
  let cursor = Math.max(first, layout.tagBytes);
  /** Bytes read since the last pause of the client. */
  let bytesSincePause = 0;
  /** No byte has been sent: a failure can still be answered. */
  let isUnanswered = true;
  /** When the chunk that is being read was offered. */
  let offeredAt = Number.POSITIVE_INFINITY;
  const isFast = () => bytesSincePause >= slowBufferBytes && performance.now() - offeredAt <= MAX_CHUNK_MS;

  async function* encodeInSlot(from: number, to: number): AsyncGenerator<Buffer> {
    const range = nextFrameRange(layout, from, to, groupFrames);
    if (!range) return;
    const release = await acquire(signal, !isUnanswered);
    try {
      yield* encode(range, signal, signal);
    } finally {
      release();
    }
  }

  /** Frames of the rest of a group that the next encoder should take. */
  const nextShare = (group: number, begun: readonly FrameGroupBuffer[]): number => {
    if (!isFast()) return group;
    const left = Math.ceil((last + 1 - cursor) / frameBytes);
    return splitRemaining({
      begun: begun.map(({ missingBytes }) => Math.ceil(missingBytes / frameBytes)),
      group,
      left,
      encoders: parallelism,
    });
  };

  const startNext = (begun: readonly FrameGroupBuffer[] = []): FrameGroupBuffer | undefined => {
    const rest = nextFrameRange(layout, cursor, last, groupFrames);
    const range = rest && nextFrameRange(layout, cursor, last, nextShare(rest.endFrame - rest.firstFrame, begun));
    if (!range) return undefined;
    const from = cursor;
    cursor += range.slice[1] - range.slice[0];
    const maxBufferedBytes = () => (isFast() ? fastBufferBytes : slowBufferBytes);
    return startFrameGroupBuffer({ first: from, last: cursor - 1, encode: encodeInSlot, maxBufferedBytes });
  };

  /** Groups that may be encoded ahead: what is encoded grows with what has been read. */
  const mayEncode = (current: FrameGroupBuffer): number => {
    // For a slow client the next group starts only when the current one is encoded.
    if (!isFast() || bytesSincePause < fastBufferBytes * SHARE_BEFORE_NEXT) return Number(current.missingBytes === 0);
    return bytesSincePause < fastBufferBytes ? 1 : parallelism;
  };

  const encodeAhead = (current: FrameGroupBuffer) => {
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
      bytesSincePause = performance.now() - offeredAt > MAX_CHUNK_MS ? 0 : bytesSincePause + chunk.length;
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
  /** Frames of the group that have not been started. */
  readonly group: number;
  /** Frames of the whole conversion that have not been started, that group included. */
  readonly left: number;
  readonly encoders: number;
}

/**
 * How many frames of the group the next encoder should take. All of them, except near the end: there the last group
 * would keep one encoder busy while the others idle, so the rest is split for all encoders to finish together.
 */
export function splitRemaining({ begun, group, left, encoders }: RemainingFrames): number {
  const busy = new Array<number>(encoders).fill(0);
  for (const frames of begun) {
    const first = Math.min(...busy);
    busy[busy.indexOf(first)] = first + frames;
  }
  const end = busy.reduce((sum, frames) => sum + frames, left) / encoders;
  const share = Math.max(Math.ceil(end - Math.min(...busy)), MIN_FRAMES);
  return group - share < MIN_FRAMES ? group : share;
}

/** The bytes of one group, encoded ahead of their reader up to a limit. */
export interface FrameGroupBuffer {
  /** Waits for the next chunk; undefined at the end of the group. @throws the error that the encoder failed with */
  take(): Promise<Buffer | undefined>;
  /** Bytes still to be encoded. */
  readonly missingBytes: number;
}

export interface FrameGroupBufferOptions {
  /** Offsets in bytes, both included. */
  readonly first: number;
  readonly last: number;
  /**
   * Encodes from an offset, for as long as it is read. The bytes depend on the offset alone, so that a later encoder can
   * continue where one was ended.
   */
  readonly encode: (first: number, last: number) => AsyncIterable<Buffer>;
  /** Limit of buffered bytes. An encoder never waits for its reader: at the limit it ends. */
  readonly maxBufferedBytes: () => number;
}

export function startFrameGroupBuffer({
  first,
  last,
  encode,
  maxBufferedBytes,
}: FrameGroupBufferOptions): FrameGroupBuffer {
  const buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let next = first;
  let failure: { readonly error: unknown } | undefined;
  let progress = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  const notify = () => {
    progress.resolve();
    progress = Promise.withResolvers();
  };

  const fill = async () => {
    while (next <= last) {
      for await (const chunk of encode(next, last)) {
        buffered.push(chunk);
        bufferedBytes += chunk.length;
        next += chunk.length;
        notify();
        if (bufferedBytes > maxBufferedBytes() && next <= last) break;
      }
      // Waits until half of the buffer is free: starting an encoder for less costs more than it gains.
      while (bufferedBytes > maxBufferedBytes() / 2 && next <= last) await taken.promise;
    }
  };
  fill().catch((error: unknown) => {
    failure = { error };
    notify();
  });

  return {
    async take() {
      for (;;) {
        const chunk = buffered.shift();
        if (chunk) {
          bufferedBytes -= chunk.length;
          taken.resolve();
          taken = Promise.withResolvers();
          return chunk;
        }
        if (next > last) return undefined;
        if (failure) throw failure.error;
        await progress.promise;
      }
    },
    get missingBytes() {
      return last + 1 - next;
    },
  };
}
