import { describe, expect, it } from 'vitest';
import { box, fullBox, UnsupportedMp4, u32 } from '../src/isobmff/boxes.ts';
import type { Sample } from '../src/isobmff/sample-table.ts';
import type { TrackHeader } from '../src/isobmff/track-header.ts';
import type { ClipTrack } from '../src/mp4-clip/clip-window.ts';
import { layOutOpus } from '../src/mp4-clip/opus-layout.ts';
import {
  checkedPage,
  oggHeaderPages,
  oggPageHeader,
  opusHead,
  opusTags,
  packetSegments,
  readOggStreams,
  vorbisComments,
} from '../src/ogg.ts';
import { trackHeader } from './seeds.ts';

const dOps = Buffer.from([0, 2, 0x01, 0x38, 0, 0, 0xbb, 0x80, 0xff, 0xfe, 0]);

describe('packetSegments', () => {
  it.each([
    [0, [0]],
    [254, [254]],
    [255, [255, 0]],
    [600, [255, 255, 90]],
  ])('of %i bytes', (bytes, segments) => expect(packetSegments(bytes)).toEqual(segments));
});

describe('readOggStreams', () => {
  const pageOf = (packet: string) =>
    checkedPage(
      oggPageHeader({ sequence: 0, granule: 0, segments: packetSegments(packet.length) }),
      Buffer.from(packet, 'latin1'),
    );
  const theora = pageOf('\x80theora\x03\x02\x01\0\x50\0\x2d\0\x05\0\0\x02\xd0');
  const opus = pageOf('OpusHead\x01\x02');

  it('names the streams that a file begins with, and no metadata', () => {
    const flac = pageOf(`\x7fFLAC${'\0'.repeat(300)}`);
    const streams = readOggStreams(Buffer.concat([pageOf('fishead\0'), theora, flac, opus, Buffer.alloc(99)]));
    expect(streams).toEqual([
      { kind: 'video', codec: 'theora', width: 1280, height: 720 },
      { kind: 'audio', codec: 'flac' },
      { kind: 'audio', codec: 'opus' },
    ]);
  });

  it('ends at the first page of another kind', () => {
    const later = Buffer.from(opus);
    later[5] = 0;
    expect(readOggStreams(Buffer.concat([theora, later, opus]))).toHaveLength(1);
  });

  it('reads as much of a file that is cut anywhere as is there', () => {
    const file = Buffer.concat([theora, opus]);
    for (let end = 0; end <= file.length; end++)
      expect(readOggStreams(file.subarray(0, end)).length).toBeLessThanOrEqual(2);
    expect(readOggStreams(theora.subarray(0, 40))).toEqual([{ kind: 'video', codec: 'theora' }]);
  });
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

describe('layOutOpus', () => {
  const entry = box('Opus', Buffer.alloc(28), box('dOps', dOps));
  const whole = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };
  const packet = (index: number, traits: Partial<Sample> = {}): Sample => ({
    decodeTime: index * 960,
    duration: 960,
    compositionOffset: 0,
    isSync: true,
    description: 1,
    offset: index * 100,
    size: 100,
    ...traits,
  });
  const trackOf = (samples: readonly Sample[], description = entry, edits: TrackHeader['edits'] = []): ClipTrack => ({
    header: {
      ...trackHeader('soun'),
      timescale: 48_000,
      movieTimescale: 48_000,
      edits,
      sampleDescriptions: fullBox('stsd', 0, 0, u32(1), description),
    },
    source: 0,
    fileBytes: 1e6,
    samples: () => samples,
  });
  const count = (length: number) => Array.from({ length }, (_, index) => packet(index));
  /** Flags, granule position and packets of each page of audio. */
  const pagesOf = (track: ClipTrack, times = whole) => {
    const { own, table, extent } = layOutOpus(track, times, opusTags([]));
    return Array.from(table.starts.keys(), extent)
      .filter(({ kind }) => kind === 'page')
      .map(({ headerOffset: at }) => [own[at + 5], Number(own.readBigInt64LE(at + 6)), own[at + 26]]);
  };

  it('has a second on each page, and marks the last one', () =>
    expect(pagesOf(trackOf(count(120)))).toEqual([
      [0, 48_000, 50],
      [0, 96_000, 50],
      [4, 115_200, 20],
    ]));

  it('begins a page where packets do not follow each other in the file', () =>
    expect(pagesOf(trackOf([packet(0), packet(1, { offset: 500 })])).map(([, , packets]) => packets)).toEqual([1, 1]));

  it('ends where the edit list ends', () => {
    const edit = { duration: 1000, mediaTime: 312n, rate: 0x1_0000 };
    expect(pagesOf(trackOf(count(2), entry, [edit]))).toEqual([[4, 1312, 2]]);
  });

  it.each([
    ['a packet that is too long', trackOf([packet(0, { size: 61_201 })])],
    ['several descriptions', trackOf([packet(0), packet(1, { description: 2 })])],
    ['packets out of order', trackOf([packet(1), packet(0, { decodeTime: 1920 })])],
    ['no configuration', trackOf(count(1), box('Opus', Buffer.alloc(28)))],
    ['another codec', trackOf(count(1), box('mp4a', Buffer.alloc(28), box('dOps', dOps)))],
    ['no packets', trackOf([])],
  ])('refuses %s', (_, track) => expect(() => layOutOpus(track, whole, opusTags([]))).toThrow(UnsupportedMp4));
});
