import { describe, expect, it } from 'vitest';
import {
  type ContentPart,
  passingOn,
  readingOf,
  readSubsegments,
  type SubsegmentContent,
} from '../src/reading/subsegment-content.ts';

const header = Buffer.from('header');
/** Three subsegments, of which the second one is larger than a chunk. */
const subsegments = [40, 600_000, 30].map((length, subsegment) =>
  Buffer.from(Array.from({ length }, (_, index) => (index * 7 + subsegment * 31) % 251)),
);
const whole = Buffer.concat([header, ...subsegments]);
const offsets = [header.length];
for (const { length } of subsegments) offsets.push((offsets.at(-1) ?? 0) + length);

/** A subsegment in parts: as they lie in memory, of which one has to be waited for, and some that belong to the reader. */
function partsOf(bytes: Buffer): readonly ContentPart[] {
  const third = Math.floor(bytes.length / 3);
  return [
    bytes.subarray(0, 10),
    Buffer.alloc(0),
    { own: Buffer.from(bytes.subarray(10, third)) },
    bytes.subarray(third, 2 * third),
    bytes.subarray(2 * third),
  ];
}

const read = async (first: number, last: number, reading: Parameters<typeof readSubsegments>[1]) => {
  const chunks: Buffer[] = [];
  for await (const chunk of readSubsegments({ header, offsets, first, last }, reading)) chunks.push(chunk);
  return chunks;
};
const contentOf = (index: number, release: SubsegmentContent['release'] = () => undefined): SubsegmentContent => ({
  parts: () => partsOf(subsegments[index] ?? Buffer.alloc(0)),
  release,
});
const permit = { rank: 0, revoked: new AbortController().signal };

describe('a range of subsegments', () => {
  it.each([
    ['all', 0, whole.length - 1],
    ['the header', 0, 3],
    ['the header and some of a subsegment', 2, 20],
    ['some of a subsegment', 10, 30],
    ['behind the first part of one', 20, 25],
    ['some of two subsegments', 30, 70],
    ['a subsegment as a whole', 46, 600_045],
    ['a chunk within a subsegment', 200_000, 500_000],
    ['the last byte', whole.length - 1, whole.length - 1],
  ])('has exactly its bytes: %s', async (_, first, last) => {
    const chunks = await read(
      first,
      last,
      passingOn(async (index) => contentOf(index)),
    );
    expect(Buffer.concat(chunks).equals(whole.subarray(first, last + 1))).toBe(true);
    expect(chunks.every((chunk) => chunk.length > 0 && chunk.length <= 256 * 1024)).toBe(true);
  });

  it('is read again from where it was once its subsegment is not held any more', async () => {
    let made = 0;
    let release: () => void = () => undefined;
    const bytes: Buffer[] = [];
    const reading = readingOf(
      {
        acquire: async () => ({ ...permit, release: () => undefined }),
        tryAcquire: () => undefined,
      },
      {
        bytesOf: () => 1,
        async make(index) {
          made += 1;
          return contentOf(index);
        },
      },
    );
    const held = {
      ...reading,
      async read(index: number) {
        const subsegment = await reading.read(index);
        release = () => subsegment.release();
        return subsegment;
      },
    };
    for await (const chunk of readSubsegments({ header, offsets, first: 0, last: whole.length - 1 }, held)) {
      bytes.push(chunk);
      // As the timer of a client that is too slow does.
      release();
    }
    expect(Buffer.concat(bytes).equals(whole)).toBe(true);
    expect(made).toBeGreaterThan(subsegments.length);
  });

  it('releases each subsegment, also what was read ahead of a reader that leaves', async () => {
    const held = new Set<number>();
    const passed: number[] = [];
    const reading = readingOf(
      {
        acquire: async () => ({ ...permit, release: () => undefined }),
        tryAcquire: () => ({ ...permit, release: () => undefined }),
      },
      {
        bytesOf: () => 1,
        async make(index) {
          held.add(index);
          return contentOf(index, (isPassed) => {
            held.delete(index);
            if (isPassed) passed.push(index);
          });
        },
      },
    );
    for await (const chunk of readSubsegments({ header, offsets, first: 0, last: whole.length - 1 }, reading))
      if (chunk.length > 20_000) break;
    expect(held).toEqual(new Set());
    expect(passed).toEqual([0]);
  });

  it('fails where a subsegment has less bytes than planned', async () => {
    const short = passingOn(async () => ({ ...contentOf(0), parts: () => [Buffer.alloc(5)] }));
    await expect(read(0, whole.length - 1, short)).rejects.toThrow('less bytes than planned');
  });
});
