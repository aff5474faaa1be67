import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  type FrameGroupBuffer,
  startFrameGroupBuffer,
} from '../../../../../stream-service/outputs/encode/frames/ranged-stream.ts';
import { bytesOf, sha256 } from '../../../source/upstream.ts';

const FIRST = 100;
const bytes = bytesOf(100_000);
const LAST = FIRST + bytes.length - 1;

/** An encoder that emits 1,000 bytes per chunk, with its calls. */
function encoder({ failsAt = Number.POSITIVE_INFINITY } = {}) {
  const starts: number[] = [];
  let running = 0;
  async function* encode(first: number, last: number) {
    starts.push(first);
    running += 1;
    try {
      for (let at = first; at <= last; at += 1000) {
        await turn();
        if (at >= failsAt) throw new Error('It broke');
        yield bytes.subarray(at - FIRST, Math.min(at + 1000, last + 1) - FIRST);
      }
    } finally {
      running -= 1;
    }
  }
  return { encode, starts, running: () => running };
}

async function all(stretch: FrameGroupBuffer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let chunk = await stretch.take(); chunk; chunk = await stretch.take()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

it('encodes in one run below the limit', async () => {
  const { encode, starts } = encoder();
  const stretch = startFrameGroupBuffer({ first: FIRST, last: LAST, encode, maxBufferedBytes: () => 200_000 });
  await expect.poll(() => stretch.missingBytes).toBe(0);
  expect(sha256(await all(stretch))).toBe(sha256(bytes));
  expect(starts).toEqual([FIRST]);
});

it('ends the encoder at the limit and resumes there when half of the buffer is free', async () => {
  const { encode, starts, running } = encoder();
  const stretch = startFrameGroupBuffer({ first: FIRST, last: LAST, encode, maxBufferedBytes: () => 10_000 });
  await expect.poll(() => [starts.length, running()]).toEqual([1, 0]);
  const received = [await stretch.take()];
  for (let count = 0; count < 4; count += 1) received.push(await stretch.take());
  for (let count = 0; count < 9; count += 1) await turn();
  expect(starts).toHaveLength(1);
  received.push(await stretch.take());
  await expect.poll(() => starts).toEqual([FIRST, FIRST + 11_000]);
  const rest = await all(stretch);
  expect(sha256(Buffer.concat([...received.filter((chunk) => chunk !== undefined), rest]))).toBe(sha256(bytes));
  expect(running()).toBe(0);
});

it('returns the chunks before a failure, then fails', async () => {
  const { encode } = encoder({ failsAt: FIRST + 3000 });
  const stretch = startFrameGroupBuffer({ first: FIRST, last: LAST, encode, maxBufferedBytes: () => 10_000 });
  for (let count = 0; count < 3; count += 1) expect((await stretch.take())?.length).toBe(1000);
  await expect(stretch.take()).rejects.toThrow('It broke');
  expect(stretch.missingBytes).toBeGreaterThan(0);
});
