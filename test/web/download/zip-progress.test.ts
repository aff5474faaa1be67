import { describe, expect, it } from 'vitest';
import { centralDirectory, createStoredBlocks, dataDescriptor, localHeader } from '../../../core/media/zip/index.ts';
import { createZipProgress } from '../../../web/src/download/zip-progress.ts';

const modifiedAt = new Date(0);
const INNER = localHeader({ path: 'List/04 - Within.mp4', size: 1, modifiedAt });
/** Zeros, and within them what reads like the end of an entry and the next one. */
const DATA = Buffer.concat([
  Buffer.alloc(3000),
  Buffer.from('PK\x07\x08'),
  Buffer.alloc(12),
  INNER,
  Buffer.alloc(70_000),
]);

/** The records of an entry. @param size undefined: known at its end only */
function entry(path: string, size: number | undefined = DATA.length) {
  const of = { path, size, modifiedAt };
  const blocks = createStoredBlocks(size);
  const parts = [blocks.write(DATA), blocks.end()];
  const descriptor = dataDescriptor({ entry: of, size: DATA.length, compressedSize: blocks.bytes, crc32: 0 });
  return Buffer.concat([localHeader(of), ...parts, descriptor]);
}

const LONG = '字'.repeat(80);
const ARCHIVE = [
  entry(`${LONG}/01 - ${LONG}.mp4`),
  entry(`${LONG}/03 - Another.mp4`, undefined),
  entry(`${LONG}/index.txt`),
  centralDirectory([], 0),
  INNER,
];

function countsOf(chunkBytes: number): number[] {
  const progress = createZipProgress(4);
  const counts: number[] = [];
  const bytes = Buffer.concat(ARCHIVE);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    progress.add(bytes.subarray(at, at + chunkBytes));
    if (counts.at(-1) !== progress.doneEntries) counts.push(progress.doneEntries);
  }
  return counts;
}

describe('createZipProgress', () => {
  it.each([1, 50, 599, 65_536])('counts entries, missing ones included, in chunks of %d bytes', (chunkBytes) => {
    expect(countsOf(chunkBytes)).toEqual([0, 2, 4]);
  });

  it('counts all entries of one chunk', () => expect(countsOf(1_000_000)).toEqual([4]));

  it.each(['List/00 - A.mp4', 'List/05 - A.mp4', 'List/1 - A.mp4', '01 - A.mp4', 'List/01.mp4', 'a/b/01 - A.mp4'])(
    'ignores %s',
    (path) => {
      const progress = createZipProgress(4);
      progress.add(entry(path));
      expect(progress.doneEntries).toBe(0);
    },
  );

  it('counts behind an entry whose sizes have 64 bits', () => {
    const of = { path: 'List/01 - A.mp4', size: 2 ** 33, modifiedAt };
    const end = createStoredBlocks(undefined).end();
    const descriptor = dataDescriptor({ entry: of, size: 0, compressedSize: 5, crc32: 0 });
    const progress = createZipProgress(4);
    progress.add(Buffer.concat([localHeader(of), end, descriptor, entry('List/03 - A.mp4')]));
    expect(progress.doneEntries).toBe(2);
  });

  it('starts over', () => {
    const progress = createZipProgress(4);
    progress.add(Buffer.concat(ARCHIVE));
    progress.reset();
    progress.add(entry('Other/02 - A.mp4'));
    expect(progress.doneEntries).toBe(1);
  });
});
