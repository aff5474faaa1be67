import { readFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { fullBox, UnsupportedMp4, u32, u64 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { readLayoutBytes } from '../../../../packages/seekable-media/src/reading/layout-bytes.ts';
import type { SizedFile } from '../../../../stream-service/source/open-source.ts';
import { layOut, openOf, read, sized } from './layouts-in-memory.ts';
import { usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();

describe('layout', () => {
  it.each([
    ['ladder/both-720.mp4', 'ladder/both-360.mp4'],
    ['indexed.mp4', 'indexed.m4a'],
  ])('of %s and %s is read at any pace', async (video, audio) => {
    const files = [sized(await readFile(media.pathOf(video))), sized(await readFile(media.pathOf(audio)))] as const;
    const layout = await layOut(files);
    const paces: ((done: () => void) => void)[] = [(done) => done(), queueMicrotask, setImmediate, process.nextTick];
    for (const [index, pace] of paces.entries()) {
      let bytes = 0;
      const consumer = new Writable({
        highWaterMark: 1 + index * 70_000,
        write(chunk: Buffer, _encoding, done) {
          bytes += chunk.length;
          pace(done);
        },
      });
      const openSource = openOf(files);
      await pipeline(readLayoutBytes({ layout, first: 0, last: layout.size - 1, openSource }), consumer);
      expect(bytes).toBe(layout.size);
    }
  });

  it('of a fragment with another track fails while read', async () => {
    const bytes = await readFile(media.pathOf('indexed.mp4'));
    const last = bytes.lastIndexOf('tfhd');
    bytes.writeUInt32BE(7, last + 8);
    const files = [sized(bytes), sized(await readFile(media.pathOf('indexed.m4a')))] as const;
    const layout = await layOut(files);
    await expect(read(layout, files, 0, layout.size - 1)).rejects.toBeInstanceOf(UnsupportedMp4);
  });

  it.each<[string, (file: Buffer) => SizedFile]>([
    ['a nested index', (file) => sized(nestIndex(file))],
    ['fragments beyond 4 GiB', (file) => withHole(file, 5 * 2 ** 30)],
  ])('of %s equals that of the file without', async (_, change) => {
    const plain = await readFile(media.pathOf('indexed.mp4'));
    const audio = sized(await readFile(media.pathOf('indexed.m4a')));
    const [expected, whole] = await Promise.all(
      [sized(plain), change(plain)].map(async (video) => {
        const layout = await layOut([video, audio]);
        return read(layout, [video, audio], 0, layout.size - 1);
      }),
    );
    expect(whole?.equals(expected ?? Buffer.alloc(0))).toBe(true);
  });
});

/** Where the `sidx` of a file is, which FFmpeg writes in version 1. */
function findIndex(file: Buffer) {
  const start = file.indexOf('sidx') - 4;
  return { start, end: start + file.readUInt32BE(start) };
}

/** The same file with an index of two indexes, each before its fragments. */
function nestIndex(file: Buffer): Buffer {
  const { start, end } = findIndex(file);
  const head = file.subarray(start + 12, start + 20);
  const rows = Array.from({ length: (end - start - 40) / 12 }, (_, row) =>
    file.subarray(start + 40 + row * 12, start + 52 + row * 12),
  );
  const sum = (of: readonly Buffer[], at: number) => of.reduce((total, row) => total + row.readUInt32BE(at), 0);
  const index = (time: number, entries: readonly Buffer[]) =>
    fullBox('sidx', 1, 0, head, u64(time), u64(0), u32(entries.length), ...entries);
  const halves = [rows.slice(0, 10), rows.slice(10)];
  let [at, time] = [end, 0];
  const parts = halves.map((half) => {
    const media = file.subarray(at, at + sum(half, 0));
    const part = Buffer.concat([index(time, half), media]);
    at += media.length;
    time += sum(half, 4);
    return { part, row: u32(0x8000_0000 + part.length, sum(half, 4), 0) };
  });
  const root = index(
    0,
    parts.map(({ row }) => row),
  );
  return Buffer.concat([file.subarray(0, start), root, ...parts.map(({ part }) => part), file.subarray(at)]);
}

/** The same file with a `free` box of `bytes` before its fragments. */
function withHole(file: Buffer, bytes: number): SizedFile {
  const { end, start } = findIndex(file);
  const before = Buffer.concat([file.subarray(0, end), u32(1), Buffer.from('free'), u64(bytes)]);
  before.writeBigUInt64BE(BigInt(bytes), start + 28);
  const source = sized(file);
  const size = file.length + bytes;
  return {
    ...source,
    size,
    read(first, last = size - 1) {
      if (first >= end + bytes) return source.read(first - bytes, last - bytes);
      return Readable.from(
        [before.subarray(first, last + 1), Buffer.alloc(Math.max(0, last + 1 - Math.max(first, before.length)))],
        {
          objectMode: false,
        },
      );
    },
  };
}
