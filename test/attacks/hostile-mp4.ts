import { randomFillSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  box,
  boxHeader,
  fullBox,
  integers,
  type TrackHeader,
  u32,
  u64,
  writeFragmentedMovie,
  writeMovie,
} from '@reelay/seekable-media/isobmff';
import type { FileSource } from '@reelay/source';

/** MP4 files of at most 64 MB whose parsing takes long: generated, each from the header of a track of a real file. */

const FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\x02\0isommp41', 'latin1'));
const MB = 1024 * 1024;
/** As many samples as are read of a file. */
const MANY = 3_000_000;

/** The same bytes many times. */
const repeat = (bytes: Buffer, count: number): Buffer => Buffer.alloc(bytes.length * count, bytes);
/** Empty ones. */
const boxes = (count: number, type = 'free') => repeat(boxHeader(type, 8), count);
/** A table with rows that `rowOf` fills by their index. */
function table(type: string, count: number, fields: number, rowOf: (index: number) => readonly number[]): Buffer {
  const rows = Buffer.alloc(count * fields * 4);
  for (let index = 0; index < count; index += 1) {
    for (const [field, value] of rowOf(index).entries()) rows.writeUInt32BE(value, (index * fields + field) * 4);
  }
  return fullBox(type, 0, 0, u32(count), rows);
}

/** Tables whose only row, or whole content, are these numbers. */
const stts = (count: number, duration = 1) => fullBox('stts', 0, 0, u32(1, count, duration));
const stsc = (perChunk: number) => fullBox('stsc', 0, 0, u32(1, 1, perChunk, 1));
const stsz = (count: number) => fullBox('stsz', 0, 0, u32(1, count));
/** Tables of `count` samples of one byte in one chunk: a few hundred bytes. */
const shortTables = (count: number, times = stts(count)) => [
  times,
  stsc(count),
  stsz(count),
  fullBox('stco', 0, 0, u32(1, 64 * MB)),
];
/** Chunks of one sample, so many bytes from one to the next. */
const chunkTables = (count: number, distance: number) => [
  stts(count),
  stsc(1),
  stsz(count),
  table('stco', count, 1, (index) => [64 * MB + index * distance]),
];

type Tables = readonly Buffer[];

const TABLES: Readonly<Record<string, () => Tables>> = {
  'three million samples in 200 bytes of tables': () => shortTables(MANY),
  'three million samples, each in a chunk of its own and far from the next one': () => chunkTables(MANY, 16),
  'half a million samples, each in a chunk of its own and a byte from the next one': () => chunkTables(500_000, 2),
  'two million samples with rows of their own in two tables': () => [
    table('ctts', 2_000_000, 2, (index) => [1, index % 3]),
    ...shortTables(
      2_000_000,
      table('stts', 2_000_000, 2, (index) => [1, index % 2]),
    ),
  ],
  'a million chunks with a row of stsc each': () => [
    stts(1_500_000),
    table('stsc', 1_000_000, 3, (index) => [index + 1, (index % 2) + 1, 1]),
    stsz(1_500_000),
    table('stco', 1_000_000, 1, (index) => [64 * MB + index * 16]),
  ],
  'three million samples of a second each': () => shortTables(MANY, stts(MANY, 90_000)),
  'three million rows of stts without samples': () =>
    shortTables(
      10,
      table('stts', MANY, 2, (index) => [index === MANY - 1 ? 10 : 0, 1]),
    ),
};

/** Bytes that a hostile movie has in place of, or besides, those of a real one. */
type Change = (movie: Buffer) => Buffer;

/** Puts boxes at the end of a container, whose first occurrence is found by its type, and grows the boxes around it. */
function insertInto(movie: Buffer, path: readonly string[], inserted: Buffer, isInFront = false): Buffer {
  const sizesAt: number[] = [];
  let at = 0;
  for (const type of path) {
    at = movie.indexOf(type, at, 'latin1') - 4;
    sizesAt.push(at);
    at += 8;
  }
  const last = sizesAt.at(-1) ?? 0;
  const end = isInFront ? last + 8 : last + movie.readUInt32BE(last);
  const grown = Buffer.concat([movie.subarray(0, end), inserted, movie.subarray(end)]);
  for (const sizeAt of sizesAt) grown.writeUInt32BE(grown.readUInt32BE(sizeAt) + inserted.length, sizeAt);
  return grown;
}

const STBL = ['moov', 'trak', 'mdia', 'minf', 'stbl'];
const MOVIES: Readonly<Record<string, Change>> = {
  '3.9 million boxes in front of its moov': (movie) => insertInto(movie, ['moov'], boxes(3_900_000), true),
  '3.9 million boxes at the end of its moov': (movie) => insertInto(movie, ['moov'], boxes(3_900_000)),
  '3.9 million boxes in front of its stbl': (movie) => insertInto(movie, STBL, boxes(3_900_000), true),
  '3.5 million sample entries': (movie) => {
    const entries = insertInto(movie, [...STBL, 'stsd'], boxes(3_500_000, 'avc1'));
    entries.writeUInt32BE(3_500_001, entries.indexOf('stsd') + 8);
    return entries;
  },
  '200,000 tracks': (movie) => {
    const trak = box('trak', box('mdia', fullBox('hdlr', 0, 0, u32(0), Buffer.from('text'), Buffer.alloc(13))));
    return insertInto(movie, ['moov'], repeat(trak, 200_000), true);
  },
  '4,000 tracks with 1,000 boxes each': (movie) =>
    insertInto(movie, ['moov'], repeat(box('trak', boxes(1000)), 4000), true),
  '3.9 million boxes in its mvex': (movie) => insertInto(movie, ['moov'], box('mvex', boxes(3_900_000, 'trex'))),
  'a million edits': (movie) =>
    insertInto(
      movie,
      ['moov', 'trak'],
      box(
        'edts',
        table('elst', 1_000_000, 3, () => [1, 0, 0x1_0000]),
      ),
    ),
  'metadata of 31 MB': (movie) => insertInto(movie, ['moov'], box('udta', randomFillSync(Buffer.alloc(31 * MB)))),
};

const track = (duration: number) => fullBox('tfhd', 0, 0x2_0000 | 0x8 | 0x10, u32(1, duration, 1));
const start = (time: number) => fullBox('tfdt', 1, 0, u64(time));
/** A run of samples without fields of their own, behind the one before. */
const plainRun = (count: number) => fullBox('trun', 0, 0, u32(count));
/** The same, at the start of the media data. */
const firstRun = (count: number) => fullBox('trun', 0, 1, u32(count, 0));
function moof(...content: readonly Buffer[]): Buffer {
  const bytes = box('moof', fullBox('mfhd', 0, 0, u32(1)), ...content);
  // `data_offset` of the first run, to the content of the `mdat` that follows.
  bytes.writeUInt32BE(bytes.length + 8, bytes.indexOf('trun') + 12);
  return bytes;
}
const traf = (...content: readonly Buffer[]) => box('traf', track(1), start(0), ...content);

/** Fragments of a `moof` each. */
export const FRAGMENTS: Readonly<Record<string, () => Buffer>> = {
  'half a million boxes in a moof of 4 MB': () => moof(boxes(500_000), traf(firstRun(1))),
  'two million boxes in a moof of 16 MB': () => moof(boxes(2_000_000), traf(firstRun(1))),
  'half a million boxes in a traf': () => moof(traf(boxes(500_000), firstRun(1))),
  'a quarter of a million runs': () => moof(traf(firstRun(1), repeat(plainRun(1), 250_000))),
  '4,000 runs of a million samples each in 64 KB': () =>
    moof(traf(firstRun(1_000_000), repeat(plainRun(1_000_000), 3999))),
  '4,000 runs of a thousand samples each in 64 KB': () => moof(traf(firstRun(1000), repeat(plainRun(1000), 3999))),
  'a million samples in 150 bytes': () => moof(traf(firstRun(1_000_000))),
  'a million samples with sizes of their own': () =>
    moof(traf(fullBox('trun', 0, 0x201, u32(1_000_000, 0), integers(new Array(1_000_000).fill(1))))),
};

const sidx = (count: number, entries: Buffer) =>
  fullBox('sidx', 1, 0, u32(1, 90_000), u64(0), u64(0), u32(count), entries);
const INDEXES: Readonly<Record<string, (fragment: Buffer) => Buffer>> = {
  '65,535 fragments': ({ length }) => sidx(0xffff, repeat(u32(length, 90_000 * 10, 0x9000_0000), 0xffff)),
  '30 indexes of 65,535 indexes': (fragment) => {
    const index = sidx(1, u32(fragment.length, 1, 0));
    return repeat(sidx(0xffff, repeat(u32(0x8000_0000 + index.length, 1, 0), 0xffff)), 30);
  },
};

export interface HostileMp4 {
  readonly name: string;
  /** The start of the file; zeroes follow. */
  readonly make: (header: TrackHeader) => Buffer;
}

const progressive = (header: TrackHeader, tables: Tables, change: Change = (movie) => movie): Buffer =>
  Buffer.concat([FILE_TYPE, change(writeMovie([{ header, durationSeconds: 60, sampleTables: tables }]))]);

/** Media data of one byte for each sample that a fragment may declare. */
const MDAT = Buffer.concat([boxHeader('mdat', 8 + 4 * MB), Buffer.alloc(4 * MB)]);
const GOOD = moof(traf(firstRun(10)));

function fragmented(header: TrackHeader, fragments: readonly Buffer[], isIndexed: boolean): Buffer {
  const movie = writeFragmentedMovie([{ header, durationSeconds: 10 }]);
  const media = fragments.map((each) => Buffer.concat([each, MDAT]));
  const entries = media.map(({ length }) => u32(length, 90_000, 0x9000_0000));
  const index = sidx(entries.length, Buffer.concat(entries));
  return Buffer.concat([FILE_TYPE, movie, ...(isIndexed ? [index] : []), ...media]);
}

const named = <T>(of: Readonly<Record<string, T>>, create: (value: T, header: TrackHeader) => Buffer, suffix = '') =>
  Object.entries(of).map(
    ([name, value]): HostileMp4 => ({ name: name + suffix, make: (header) => create(value, header) }),
  );

/** Files of the same form that nothing is wrong with. */
export const GOOD_MP4: readonly HostileMp4[] = [
  { name: 'tables', make: (header) => progressive(header, shortTables(90_000 * 10)) },
  { name: 'indexed fragments', make: (header) => fragmented(header, [GOOD, GOOD], true) },
];

export const HOSTILE_MP4: readonly HostileMp4[] = [
  ...named(MOVIES, (change, header) => progressive(header, shortTables(1000), change)),
  ...named(TABLES, (tables, header) => progressive(header, tables())),
  ...named(FRAGMENTS, (fragment, header) => fragmented(header, [fragment()], true), ', first of an index'),
  ...named(FRAGMENTS, (fragment, header) => fragmented(header, [GOOD, fragment()], true), ', second of an index'),
  ...named(FRAGMENTS, (fragment, header) => fragmented(header, [fragment()], false), ', without an index'),
  ...named(INDEXES, (index, header) => {
    const fragment = Buffer.concat([GOOD, boxHeader('mdat', 18), Buffer.alloc(10)]);
    const movie = writeFragmentedMovie([{ header, durationSeconds: 10 }]);
    return Buffer.concat([FILE_TYPE, movie, index(fragment), repeat(fragment, 0xffff)]);
  }),
];

/** Zeroes after the start of a file: samples are there. */
const MEDIA_BYTES = 256 * MB;
const CHUNK_BYTES = 64 * 1024;

/** A file as a network delivers it: in chunks, between which the event loop turns. */
export function hostileSource(head: Buffer): FileSource & { readonly size: number } {
  const size = head.length + MEDIA_BYTES;
  async function* chunks(first: number, last: number) {
    for (let at = first; at <= last; ) {
      await setImmediate();
      const end = Math.min(last + 1, at + CHUNK_BYTES);
      // A copy: the service releases the memory of what it has sent.
      const chunk = Buffer.alloc(end - at);
      if (at < head.length) head.copy(chunk, 0, at, end);
      yield chunk;
      at = end;
    }
  }
  return {
    needsRemux: false,
    size,
    validator: '"hostile"',
    read: (first, last = size - 1) => Readable.from(chunks(first, last), { objectMode: false }),
    close: () => undefined,
  };
}
