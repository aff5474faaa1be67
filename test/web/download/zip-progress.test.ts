import { describe, expect, it } from 'vitest';
import { localHeader } from '../../../core/media/zip/index.ts';
import { createZipProgress } from '../../../web/src/download/zip-progress.ts';

const modifiedAt = new Date(0);
const header = (path: string) => localHeader({ path, size: undefined, modifiedAt });
/** Zeros, and the beginnings of headers that are none. */
const data = Buffer.concat([Buffer.alloc(3000), Buffer.from('PK\x03\x04PK\x03\x04'), Buffer.alloc(2000, 'P')]);

const LONG = '字'.repeat(80);
const ARCHIVE = [
  header(`${LONG}/01 - ${LONG}.mp4`),
  data,
  header(`${LONG}/03 - Another.mp4`),
  // An entry may be an archive of another list.
  header('Inner/07 - Within.mp4'),
  data,
  header(`${LONG}/index.txt`),
  data,
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
  it.each([50, 599, 600, 601, 1000])('counts entries, missing ones included, in chunks of %d bytes', (chunkBytes) => {
    expect(countsOf(chunkBytes)).toEqual([0, 2, 4]);
  });

  it('counts all entries of one chunk', () => expect(countsOf(1_000_000)).toEqual([4]));

  it.each(['List/00 - A.mp4', 'List/05 - A.mp4', 'List/1 - A.mp4', '01 - A.mp4', 'List/01.mp4', 'a/b/01 - A.mp4'])(
    'ignores %s',
    (path) => {
      const progress = createZipProgress(4);
      progress.add(Buffer.concat([header(path), data]));
      expect(progress.doneEntries).toBe(0);
    },
  );

  it('starts over', () => {
    const progress = createZipProgress(4);
    progress.add(Buffer.concat(ARCHIVE));
    progress.reset();
    progress.add(Buffer.concat([header('Other/02 - A.mp4'), data]));
    expect(progress.doneEntries).toBe(1);
  });
});
