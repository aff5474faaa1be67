import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createByteStore } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MP3_FRAME_BYTES } from '../../../../../core/conversions/conversion.ts';
import { createComputedExtents } from '../../../../../stream-service/outputs/computed-extents.ts';
import { GROUP_FRAMES, mp3Encoding } from '../../../../../stream-service/outputs/encode/encoded-formats.ts';
import { type FrameRange, layoutBytes } from '../../../../../stream-service/outputs/encode/frames/frame-layout.ts';
import { rangedStream, splitRemaining } from '../../../../../stream-service/outputs/encode/frames/ranged-stream.ts';

const tag = Buffer.from('a tag');
const layout = { tagBytes: tag.length, encoding: mp3Encoding(192), frames: 2 * GROUP_FRAMES + 4000 };

function kept() {
  const extents = createComputedExtents(createByteStore(10_000_000));
  return { extents, shared: extents.share(nameOf([], 'entity'), () => expect.fail('Nothing was read')) };
}
const units = kept();
const common = { layout, tag, acquire: async () => () => undefined, parallelism: 2 };

/** A frame that contains its number. */
const frame = (number: number) => Buffer.alloc(MP3_FRAME_BYTES, `${number} `);
const frames = (from: number, end: number) =>
  Buffer.concat(Array.from({ length: end - from }, (_, index) => frame(from + index)));

it('splits the last group between concurrent encoders and sends it in order', async () => {
  // A client that pauses, as this one would on a busy machine, counts as slow.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const pieces: FrameRange[] = [];
  async function* encode(piece: FrameRange) {
    pieces.push(piece);
    const [start, end] = piece.slice;
    const bytes = frames(piece.firstFrame, piece.endFrame).subarray(start, end);
    for (let at = 0; at < bytes.length; at += 32_768) yield bytes.subarray(at, at + 32_768);
  }
  const options = { ...common, encode, ...units };
  const body = await buffer(rangedStream(3, layoutBytes(layout) - 1, options));
  const whole = Buffer.concat([tag, frames(0, layout.frames)]);
  expect(body.equals(whole.subarray(3))).toBe(true);
  const isLast = ({ group }: FrameRange) => group === 2;
  const [first, second, ...more] = pieces.filter(isLast);
  expect([first?.firstFrame, second?.firstFrame, second?.endFrame]).toEqual([12_000, first?.endFrame, 16_000]);
  expect(more).toEqual([]);
});

it('encodes little ahead for a slow client', async () => {
  const pieces: FrameRange[] = [];
  let given = 0;
  async function* encode(piece: FrameRange) {
    pieces.push(piece);
    for (let at = piece.firstFrame; at < piece.endFrame; at += 50) {
      const bytes = frames(at, Math.min(at + 50, piece.endFrame));
      given += bytes.length;
      yield bytes;
    }
  }
  const options = { ...common, encode, ...units };
  const stream = rangedStream(0, layoutBytes(layout) - 1, options);
  await new Promise((resolve) => stream.once('readable', resolve));
  await expect.poll(() => given).toBeGreaterThan(500 * MP3_FRAME_BYTES);
  expect(given).toBeLessThan(700 * MP3_FRAME_BYTES);
  expect(pieces).toHaveLength(1);
  stream.destroy();
});

/** Encodings of units that end when the test lets them, or are aborted. */
function heldEncodings() {
  const begun: { readonly signal: AbortSignal; readonly ofStream: AbortSignal; readonly finish: () => void }[] = [];
  async function* encode({ firstFrame, endFrame }: FrameRange, signal: AbortSignal, ofStream: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => reject(signal.reason));
    begun.push({ signal, ofStream, finish: resolve });
    await promise;
    yield frames(firstFrame, endFrame);
  }
  const options = { ...common, encode, ...kept() };
  const read = () => rangedStream(tag.length, tag.length + MP3_FRAME_BYTES - 1, options);
  return { begun, read };
}

it('goes on with a unit for a stream that waits for it when the one that began it is destroyed', async () => {
  const { begun, read } = heldEncodings();
  const first = read().resume();
  await expect.poll(() => begun.length).toBe(1);
  const second = buffer(read());
  first.destroy();
  await once(first, 'close');
  begun[0]?.finish();
  expect(await second).toEqual(frame(0));
  expect(begun).toHaveLength(1);
  // What the first stream has kept of its source is freed.
  await expect.poll(() => begun[0]?.ofStream.aborted).toBe(true);
});

it('ends the encoding of a unit at once when the last stream that waits for it is destroyed', async () => {
  const { begun, read } = heldEncodings();
  const streams = [read().resume(), read().resume()];
  await expect.poll(() => begun.length).toBe(1);
  for (const stream of streams) stream.destroy();
  expect(begun[0]?.signal.aborted).toBe(true);
  await expect.poll(() => begun[0]?.ofStream.aborted).toBe(true);
  expect(begun).toHaveLength(1);
});

it('leaves the queue for an encoder at once when it is destroyed', async () => {
  const waiting: AbortSignal[] = [];
  const acquire = (signal: AbortSignal) =>
    new Promise<() => void>((_, reject) => {
      waiting.push(signal);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const encode = () => Readable.from([]);
  for (const last of [tag.length, layoutBytes(layout) - 1]) {
    const stream = rangedStream(0, last, { ...common, encode, acquire, ...units });
    stream.resume();
    await expect.poll(() => waiting.length).toBe(1);
    stream.destroy();
    expect(waiting.splice(0).map(({ aborted }) => aborted)).toEqual([true]);
  }
});

it.each([
  ['the first group of many', { begun: [], group: 6000, left: 150_001 }, 6000],
  ['half of the last, where one frame follows', { begun: [2000, 2000], group: 6000, left: 6001 }, 3001],
  ['less of it, where another is nearly done', { begun: [5500, 6000], group: 4000, left: 4000 }, 2250],
  ['all of it, where another has much more to do', { begun: [1000, 6000], group: 4000, left: 4000 }, 4000],
  ['no range that is not worth the start', { begun: [1000, 1000], group: 1500, left: 1500 }, 1500],
  ['and leaves no such range', { begun: [3000, 4000], group: 2900, left: 2900 }, 2900],
  ['everything to a single encoder', { begun: [3000], group: 3000, left: 3000, encoders: 1 }, 3000],
])('assigns an encoder %s', (_what, work, share) => expect(splitRemaining({ encoders: 2, ...work })).toBe(share));
