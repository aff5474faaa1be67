import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  box,
  boxHeader,
  fullBox,
  indexMovie,
  integers,
  parseBoxes,
  u32,
  u64,
} from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import {
  NON_SYNC_SAMPLE_FLAGS,
  SYNC_SAMPLE_FLAGS,
} from '../../../../packages/seekable-media/src/isobmff/fragment-writer.ts';
import { TFHD, TRUN } from '../../../../packages/seekable-media/src/isobmff/movie-fragment.ts';
import { writeFragmentedMovie, writeMovie } from '../../../../packages/seekable-media/src/isobmff/movie-header.ts';
import { parseTrackHeader, type TrackHeader } from '../../../../packages/seekable-media/src/isobmff/track-header.ts';

/** A sample of a generated file. Times in units of the media. */
export interface GeneratedSample {
  readonly duration: number;
  readonly composition: number;
  readonly isSync: boolean;
  readonly bytes: Buffer;
}

/** How the samples are arranged in a file. */
export interface Arrangement {
  readonly form: 'progressive' | 'indexed' | 'chained' | 'unindexed';
  /** Samples of each chunk or fragment, repeated. */
  readonly groups: readonly number[];
  /** Bytes between chunks. */
  readonly gap: number;
  readonly isMovieLast: boolean;
  readonly hasLargeOffsets: boolean;
}

export const arrangements: fc.Arbitrary<Arrangement> = fc.record({
  form: fc.constantFrom('progressive', 'progressive', 'indexed', 'chained', 'unindexed'),
  groups: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }),
  gap: fc.constantFrom(0, 0, 1, 37),
  isMovieLast: fc.boolean(),
  hasLargeOffsets: fc.boolean(),
});

const fields = fc.record({
  duration: fc.oneof(fc.constant(512), fc.integer({ min: 1, max: 4000 })),
  composition: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })),
  isSync: fc.boolean(),
  size: fc.integer({ min: 0, max: 900 }),
});

/** Up to 120 samples, of which the first is not empty and a sync sample. */
export const samples: fc.Arbitrary<readonly GeneratedSample[]> = fc
  .tuple(fc.array(fields, { minLength: 1, maxLength: 120 }), fc.nat(0xffff))
  .map(([rows, seed]) => {
    let state = seed;
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    };
    return rows.map(({ size, ...row }, index) => ({
      ...row,
      isSync: row.isSync || index === 0,
      bytes: Buffer.from(Array.from({ length: index === 0 ? size + 1 : size }, random)),
    }));
  });

/** The header of the first track of a kind. */
export function headerOf(file: Buffer, kind: 'vide' | 'soun'): TrackHeader {
  const moov = [...parseBoxes(file)].find(({ type }) => type === 'moov');
  if (!moov) throw new Error('The file has no moov');
  return parseTrackHeader(indexMovie(file.subarray(moov.content, moov.end)), kind);
}

/** That of a real file, for generated samples. */
export const readTemplate = (path: string, kind: 'vide' | 'soun', timescale: number): TrackHeader => ({
  ...headerOf(readFileSync(path), kind),
  timescale,
  edits: [],
});

export const FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\x02\0isommp41', 'latin1'));

/** A file with these samples. */
export function generateFile(header: TrackHeader, all: readonly GeneratedSample[], how: Arrangement): Buffer {
  const groups = groupSamples(all, how.groups);
  return how.form === 'progressive' ? progressive(header, groups, how) : fragmented(header, groups, how);
}

function groupSamples(all: readonly GeneratedSample[], counts: readonly number[]): GeneratedSample[][] {
  const groups: GeneratedSample[][] = [];
  for (let at = 0; at < all.length; ) {
    const count = counts[groups.length % counts.length] ?? 1;
    groups.push(all.slice(at, at + count));
    at += count;
  }
  return groups;
}

const bytesOf = (group: readonly GeneratedSample[]) => Buffer.concat(group.map(({ bytes }) => bytes));
const durationOf = (group: readonly GeneratedSample[]) => group.reduce((sum, { duration }) => sum + duration, 0);

function progressive(header: TrackHeader, groups: readonly GeneratedSample[][], how: Arrangement): Buffer {
  const all = groups.flat();
  const sync = all.flatMap(({ isSync }, index) => (isSync ? [index + 1] : []));
  const chunks = groups.map((group) => Buffer.concat([bytesOf(group), Buffer.alloc(how.gap)]));
  const movie = (firstOffset: number) => {
    let at = firstOffset;
    const offsets = chunks.map(({ length }) => {
      at += length;
      return at - length;
    });
    const sampleTables = [
      fullBox('stts', 0, 0, u32(all.length, ...all.flatMap(({ duration }) => [1, duration]))),
      fullBox('ctts', 1, 0, u32(all.length, ...all.flatMap(({ composition }) => [1, composition]))),
      fullBox('stss', 0, 0, u32(sync.length, ...sync)),
      fullBox('stsc', 0, 0, u32(groups.length, ...groups.flatMap(({ length }, index) => [index + 1, length, 1]))),
      fullBox('stsz', 0, 0, u32(0, all.length, ...all.map(({ bytes }) => bytes.length))),
      how.hasLargeOffsets
        ? fullBox('co64', 0, 0, u32(offsets.length), ...offsets.map(u64))
        : fullBox('stco', 0, 0, u32(offsets.length, ...offsets)),
    ];
    return writeMovie([{ header, durationSeconds: durationOf(all) / header.timescale, sampleTables }]);
  };
  const media = Buffer.concat(chunks);
  const mdat = how.hasLargeOffsets
    ? Buffer.concat([u32(1), Buffer.from('mdat'), u64(16 + media.length)])
    : boxHeader('mdat', 8 + media.length);
  const start = FILE_TYPE.length + mdat.length;
  return how.isMovieLast
    ? Buffer.concat([FILE_TYPE, mdat, media, movie(start)])
    : Buffer.concat([FILE_TYPE, movie(start + movie(0).length), mdat, media]);
}

const RUN_FLAGS = TRUN.dataOffset | TRUN.sampleDuration | TRUN.sampleSize | TRUN.sampleFlags | TRUN.compositionOffset;

/** A `moof` in front of an `mdat`, with the fields of a sample of its own. */
function writeFragment(startTime: number, group: readonly GeneratedSample[]): Buffer {
  const fields = group.flatMap(({ duration, bytes, isSync, composition }) => [
    ...[duration, bytes.length, isSync ? SYNC_SAMPLE_FLAGS : NON_SYNC_SAMPLE_FLAGS, composition],
  ]);
  const tfhd = fullBox('tfhd', 0, TFHD.baseIsMoof | TFHD.sampleDescription, u32(1, 1));
  const tfdt = fullBox('tfdt', 1, 0, u64(startTime));
  const moofOf = (dataOffset: number) => {
    const trun = fullBox('trun', 1, RUN_FLAGS, u32(group.length, dataOffset), integers(fields));
    return box('moof', fullBox('mfhd', 0, 0, u32(0)), box('traf', tfhd, tfdt, trun));
  };
  // Behind the `moof` and the header of the `mdat`.
  return moofOf(moofOf(0).length + 8);
}

function fragmented(header: TrackHeader, groups: readonly GeneratedSample[][], { form }: Arrangement): Buffer {
  let time = 0;
  const fragments = groups.map((group) => {
    const media = bytesOf(group);
    const moof = writeFragment(time, group);
    const start = time;
    time += durationOf(group);
    const bytes = Buffer.concat([moof, boxHeader('mdat', 8 + media.length), media]);
    return { bytes, start, duration: durationOf(group) };
  });
  const index = (of: typeof fragments) =>
    fullBox(
      ...(['sidx', 1, 0] as const),
      u32(1, header.timescale),
      u64(of[0]?.start ?? 0),
      u64(0),
      u32(of.length),
      ...of.map(({ bytes, duration }) => u32(bytes.length, duration, 0x9000_0000)),
    );
  const movie = writeFragmentedMovie([{ header, durationSeconds: time / header.timescale }]);
  const all = fragments.flatMap((fragment) => [...(form === 'chained' ? [index([fragment])] : []), fragment.bytes]);
  return Buffer.concat([FILE_TYPE, movie, ...(form === 'indexed' ? [index(fragments)] : []), ...all]);
}
