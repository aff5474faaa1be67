import { describe, expect, it } from 'vitest';
import { oggHeaderPages, packetSegments } from '../../../core/media/ogg/ogg-pages.ts';
import { opusHead, opusTags, vorbisComments } from '../../../core/media/ogg/opus-headers.ts';

const dOps = Buffer.from([0, 2, 0x01, 0x38, 0, 0, 0xbb, 0x80, 0xff, 0xfe, 0]);

describe('packetSegments', () => {
  it.each([
    [0, [0]],
    [254, [254]],
    [255, [255, 0]],
    [600, [255, 255, 90]],
  ])('of %i bytes', (bytes, segments) => expect(packetSegments(bytes)).toEqual(segments));
});

describe('oggHeaderPages', () => {
  const identification = Buffer.from('identification');

  it('continues comments on as many pages as they need', () => {
    const comments = Buffer.alloc(100_000, 7);
    const pages = oggHeaderPages(identification, comments);
    expect(pages.map((page) => [page[5], page.readBigInt64LE(6), page.readUInt32LE(18)])).toEqual([
      [2, 0n, 0],
      [0, -1n, 1],
      [1, 0n, 2],
    ]);
    expect(Buffer.concat(pages.slice(1).map((page) => page.subarray(27 + (page[26] ?? 0))))).toEqual(comments);
  });

  it('has the checksum of Ogg', () => {
    const [page] = oggHeaderPages(Buffer.from('123456789'), Buffer.alloc(1));
    expect(page?.readUInt32LE(22).toString(16)).toBe('30e80792');
  });
});

describe('opusHead', () => {
  it('has the fields of dOps in little endian', () =>
    expect(opusHead(dOps)).toEqual(
      Buffer.concat([Buffer.from('OpusHead'), Buffer.from([1, 2, 0x38, 0x01, 0x80, 0xbb, 0, 0, 0xfe, 0xff, 0])]),
    ));

  it('has another pre-skip', () => expect(opusHead(dOps, 7)?.readUInt16LE(10)).toBe(7));

  it.each([
    ['is too short', dOps.subarray(1)],
    ['has an unknown version', Buffer.from([1, ...dOps.subarray(1)])],
  ])('is undefined for a dOps that %s', (_, bytes) => expect(opusHead(bytes)).toBeUndefined());
});

describe('vorbisComments', () => {
  it('has what is known, without control characters', () =>
    expect(vorbisComments({ title: 'A\0B', artist: null, trackNumber: 3, link: 'https://a.example' })).toEqual([
      'TITLE=A B',
      'TRACKNUMBER=3',
      'COMMENT=https://a.example',
    ]));

  it('leaves out a link and a cover that are too long', () =>
    expect(vorbisComments({ title: null, artist: null, link: 'l'.repeat(1001) }, Buffer.alloc(58_001))).toEqual([]));
});

describe('opusTags', () => {
  const longest = vorbisComments({ title: 'x'.repeat(9999), artist: '😀'.repeat(9999) }, Buffer.alloc(58_000));

  it.each([
    ['nothing', []],
    ['the longest texts and cover', longest],
  ])('have one size where they are full, with %s', (_, comments) =>
    expect(opusTags(comments, true)).toHaveLength(96 * 1024),
  );

  it('are short otherwise', () => expect(opusTags(['TITLE=a'])).toHaveLength(8 + 4 + 6 + 4 + 4 + 7));
});
