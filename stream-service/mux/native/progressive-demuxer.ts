import {
  box,
  boxHeader,
  fullBox,
  type SampleTable,
  type SampleWalk,
  type TrackFragment,
  UnsupportedMp4,
  u32,
  u64,
} from '../../../core/media/isobmff/index.ts';

/** A run ends at the first sync sample from then on … */
const WANTED_SECONDS = 1;
/** … and at the latest here: a player needs both tracks' bytes of one moment. */
const MAX_SECONDS = 8;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_SAMPLES = 16_384;

/** Sample flags (§8.8.3.1): depends on no other, and on others. */
const SYNC_FLAGS = 0x0200_0000;
const OTHER_FLAGS = 0x0101_0000;
const TFHD = { description: 0x2, flags: 0x20, baseIsMoof: 0x2_0000 };
const TRUN = { dataOffset: 0x1, duration: 0x100, size: 0x200, flags: 0x400, compositionOffset: 0x800 };
const MDAT_HEADER_BYTES = 8;

/**
 * Looks at every sample once, so that nothing can go wrong later but the reading.
 * @param size of the file
 * @returns the duration, in units of the media
 * @throws Unsupported when a sample lies before one that is decoded earlier, and an error of no muxer's when one lies
 * beyond the end: the file was cut, and FFmpeg would send what is left of it as if it were all
 */
export function checkSamples(table: SampleTable, size: number): number {
  const walk = table.walk();
  let end = 0;
  while (walk.next()) {
    if (walk.offset < end) throw new UnsupportedMp4('Samples out of order');
    end = walk.offset + walk.size;
    if (!(end <= size)) throw new Error('The file ends before what its header describes');
  }
  return walk.decodeTime + walk.duration;
}

/** The runs of a track with sample tables, cut at sync samples. */
export function* demuxProgressive(table: SampleTable, track: number, timescale: number): Generator<TrackFragment> {
  const walk = table.walk();
  let isMore = walk.next();
  while (isMore) {
    const startTime = walk.decodeTime;
    const { description } = walk;
    const ranges: { first: number; bytes: number }[] = [];
    const samples: number[] = [];
    let bytes = 0;
    do {
      append(ranges, walk);
      describe(samples, walk, table);
      bytes += walk.size;
      isMore = walk.next();
    } while (isMore && !isEnd(walk, { startTime, description, bytes, samples: samples.length, timescale }));
    const content = { track, startTime, description, samples, bytes, table };
    yield { startSeconds: startTime / timescale, ranges, head: (sequence) => runHead(content, sequence) };
  }
}

function isEnd(
  { decodeTime, isSync, description, size }: SampleWalk,
  run: { startTime: number; description: number; bytes: number; samples: number; timescale: number },
): boolean {
  const seconds = (decodeTime - run.startTime) / run.timescale;
  if (description !== run.description || (isSync && seconds >= WANTED_SECONDS)) return true;
  return seconds >= MAX_SECONDS || run.bytes + size > MAX_BYTES || run.samples >= MAX_SAMPLES;
}

function append(ranges: { first: number; bytes: number }[], { offset, size }: SampleWalk): void {
  const last = ranges.at(-1);
  if (last && last.first + last.bytes === offset) last.bytes += size;
  else if (size > 0) ranges.push({ first: offset, bytes: size });
}

function describe(samples: number[], walk: SampleWalk, { hasSyncTable, hasOffsets }: SampleTable): void {
  samples.push(walk.duration, walk.size);
  if (hasSyncTable) samples.push(walk.isSync ? SYNC_FLAGS : OTHER_FLAGS);
  if (hasOffsets) samples.push(walk.compositionOffset);
}

interface RunContent {
  readonly track: number;
  readonly startTime: number;
  readonly description: number;
  readonly samples: readonly number[];
  readonly bytes: number;
  readonly table: SampleTable;
}

function runHead({ track, startTime, description, samples, bytes, table }: RunContent, sequence: number): Buffer {
  const { hasSyncTable, hasOffsets } = table;
  const count = samples.length / (2 + Number(hasSyncTable) + Number(hasOffsets));
  const tfhdFlags = TFHD.baseIsMoof | TFHD.description | TFHD.flags;
  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(track, description, SYNC_FLAGS));
  const tfdt = fullBox('tfdt', 1, 0, u64(startTime));
  const flags = (hasSyncTable ? TRUN.flags : 0) | (hasOffsets ? TRUN.compositionOffset : 0);
  const trunFlags = TRUN.dataOffset | TRUN.duration | TRUN.size | flags;
  const trun = fullBox('trun', 1, trunFlags, u32(count, 0), u32(...samples));
  const moof = box('moof', fullBox('mfhd', 0, 0, u32(sequence)), box('traf', tfhd, tfdt, trun));
  // The data offset is the second number of the `trun`, which ends the `moof`.
  moof.writeInt32BE(moof.length + MDAT_HEADER_BYTES, moof.length - trun.length + 16);
  return Buffer.concat([moof, boxHeader('mdat', bytes + MDAT_HEADER_BYTES)]);
}
