import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MP3_FRAME_BYTES } from '../../../../../core/conversions/mp3.ts';
import { createEncodedUnits } from '../../../../../stream-service/outputs/encode/frames/encoded-units.ts';
import { type FrameRange, layoutBytes } from '../../../../../stream-service/outputs/encode/frames/layout.ts';
import { rangedStream } from '../../../../../stream-service/outputs/encode/frames/ranged-stream.ts';
import { mp3Encoding, SEGMENT_FRAMES } from '../../../../../stream-service/outputs/encode/mp3.ts';

const tag = Buffer.from('a tag');
const layout = { tagBytes: tag.length, encoding: mp3Encoding(192), frames: 2 * SEGMENT_FRAMES + 4000 };

const units = createEncodedUnits(10_000_000).of('entity', layout.encoding);

/** A frame that contains its number. */
const frame = (number: number) => Buffer.alloc(MP3_FRAME_BYTES, `${number} `);
const frames = (from: number, end: number) =>
  Buffer.concat(Array.from({ length: end - from }, (_, index) => frame(from + index)));

it('splits the last segment between concurrent encoders and sends it in order', async () => {
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
  const options = { layout, tag, encode, acquire: async () => () => undefined, parallelism: 2, units };
  const body = await buffer(rangedStream(3, layoutBytes(layout) - 1, options));
  const whole = Buffer.concat([tag, frames(0, layout.frames)]);
  expect(body.equals(whole.subarray(3))).toBe(true);
  const isLast = ({ segment }: FrameRange) => segment === 2;
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
  const options = { layout, tag, encode, acquire: async () => () => undefined, parallelism: 2, units };
  const stream = rangedStream(0, layoutBytes(layout) - 1, options);
  await new Promise((resolve) => stream.once('readable', resolve));
  await expect.poll(() => given).toBeGreaterThan(500 * MP3_FRAME_BYTES);
  expect(given).toBeLessThan(700 * MP3_FRAME_BYTES);
  expect(pieces).toHaveLength(1);
  stream.destroy();
});
