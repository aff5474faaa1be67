import { type ParameterSets, readParameterSets } from '../elementary/index.ts';
import {
  type Box,
  beginWhenShown,
  box,
  type HandlerType,
  indexBox,
  indexContent,
  isClosedGop,
  listTrackKinds,
  measureSubsegment,
  parseBoxes,
  parseFragmentSamples,
  parseTrackHeader,
  type RunSample,
  type Sample,
  type TrackHeader,
  type TrackRun,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import {
  type Encoding,
  isHardlyLate,
  type MoreBytes,
  type SegmentFormat,
  type SegmentHead,
  type SegmentRun,
  TooManyPieces,
} from './segment-format.ts';

const KINDS: readonly HandlerType[] = ['vide', 'soun'];
/** A longer `moof` is not read for the size of a segment. */
const MAX_MOOF_BYTES = 1024 * 1024;
const MAX_MOVIE_BYTES = 256 * 1024;
/** Samples of a track in one segment. */
const MAX_SAMPLES = 200_000;
/** A `moof` with its `mdat`, and the padding of encrypted segments: no fragment is shorter. */
const MIN_FRAGMENT_BYTES = 48;
/** When several fragments become one, samples need up to three fields that each fragment had stated once. */
const MERGED_BYTES = 512;
const MERGED_SHARE = 1 / 50;
/** The field of a sample that tells its duration, or how much later it is shown. */
const FIELD_BYTES = 4;
/** Access points of a segment that have their parameter sets: its first moof does not tell how many there are. */
const MAX_SETS = 16;
/** The most bytes that a sample takes in a `trun`: duration, size, flags and composition offset. */
const MAX_FIELDS_BYTES = 4 * FIELD_BYTES;

/** Fragmented MP4: `moof` and `mdat`, once or several times, whose tracks an initialization section describes. */
export const mp4Segments: SegmentFormat = {
  hasIndexedPieces: true,

  inspect(head) {
    const moof = findFirstMoof(head);
    if ('neededBytes' in moof) return moof;
    const encoding = head.encoding ?? readEncoding(head.init ?? head.bytes);
    const isOnlyOne = isAlone(moof, head.size);
    const own = readRuns(head.bytes, [moof], encoding);
    const runs = own.map((run) => (isOnlyOne ? begun(run) : run));
    const [main] = runs;
    if (!main) throw new UnsupportedMp4('A segment without samples');
    const timescaleOf = (kind: HandlerType) => encoding.tracks.find((track) => track.kind === kind)?.timescale ?? 1;
    const sound = runs.find(({ kind }) => kind === 'soun');
    const lateness = (run: Run) => run.decodeTime - (main.decodeTime * timescaleOf(run.kind)) / timescaleOf(main.kind);
    const offsetBytes = sound && isHardlyLate(lateness(sound), sound) ? FIELD_BYTES * sound.samples.length : 0;
    const sets = setsOf(encoding);
    const toMain = (kind: HandlerType, time: number) => Math.round((time * timescaleOf(main.kind)) / timescaleOf(kind));
    return {
      encoding,
      mainKind: main.kind,
      startTime: main.decodeTime,
      earliestTime: Math.min(...runs.map((run) => toMain(run.kind, firstShown(run)))),
      startsWithSync: main.samples[0]?.isSync ?? false,
      ...(isOnlyOne
        ? {
            endTime: main.decodeTime + durationOf(own[0]),
            maxBytes: measureSubsegment(runs.map(toTrackRun)) + offsetBytes,
            movedBytes: FIELD_BYTES * main.samples.length,
            setBytes:
              measureSubsegment(runs.map((run) => withSets(run, sets)).map(toTrackRun)) -
              measureSubsegment(runs.map(toTrackRun)),
            audioBytes: measureSubsegment(runs.filter(({ kind }) => kind === 'soun').map(toTrackRun)),
          }
        : { maxBytes: boundFragment(head.size), setBytes: MAX_SETS * (sets?.bytes.length ?? 0) }),
    };
  },

  boundFragment,

  read(segment, encoding, maxPieces = Number.POSITIVE_INFINITY, hasSets = false) {
    const moofs = findMoofs(segment);
    const moofBytes = moofs.reduce((sum, { start, end }) => sum + end - start, 0);
    if (moofBytes > maxPieces * MAX_FIELDS_BYTES) throw new TooManyPieces();
    const [first] = moofs;
    const isOnlyOne = first !== undefined && isAlone(first, segment.length);
    const sets = hasSets ? setsOf(encoding) : undefined;
    return readRuns(segment, moofs, encoding, maxPieces).map((run) =>
      toSegmentRun(isOnlyOne ? begun(run) : run, segment, sets),
    );
  },
};

function boundFragment(segmentBytes: number): number {
  return segmentBytes + MERGED_BYTES + Math.ceil(segmentBytes * MERGED_SHARE);
}

interface Moof extends Box {
  /** Undefined: there is no `mdat` behind it, or its header is not there. */
  readonly mdatEnd: number | undefined;
}

/** Whether a segment has no other fragment, by its size. */
const isAlone = ({ mdatEnd }: Moof, segmentBytes: number): boolean =>
  mdatEnd !== undefined && mdatEnd + MIN_FRAGMENT_BYTES > segmentBytes;

function findFirstMoof({ bytes, isWhole }: SegmentHead): Moof | MoreBytes {
  const boxes = [...parseBoxes(bytes)];
  const moof = boxes.find(({ type }) => type === 'moof');
  if (!moof) {
    const end = boxes.at(-1)?.end ?? Number.POSITIVE_INFINITY;
    if (isWhole || end > MAX_MOVIE_BYTES) throw new UnsupportedMp4('A segment without moof');
    // With the start of the `moof`, whose header says how long it is.
    return { neededBytes: Math.max(end, bytes.length) + 1024 };
  }
  if (moof.end - moof.start > MAX_MOOF_BYTES) throw new UnsupportedMp4('moof too large');
  // With the header of the `mdat`, a long one included.
  if (!isWhole && moof.end + 16 > bytes.length) return { neededBytes: moof.end + 16 };
  if (moof.end > bytes.length) throw new UnsupportedMp4('Truncated fragment');
  return withMedia(moof, boxes[boxes.indexOf(moof) + 1]);
}

const withMedia = (moof: Box, next: Box | undefined): Moof => ({
  ...moof,
  mdatEnd: next?.type === 'mdat' ? next.end : undefined,
});

function findMoofs(segment: Buffer): readonly Moof[] {
  const boxes = [...parseBoxes(segment)];
  if (boxes.some(({ type, end }) => type === 'moof' && end > segment.length))
    throw new UnsupportedMp4('Truncated moof');
  return boxes.flatMap((box, index) => (box.type === 'moof' ? [withMedia(box, boxes[index + 1])] : []));
}

/** @param init bytes with a whole `moov` */
function readEncoding(init: Buffer): Encoding {
  const moov = indexContent(init, 'file').find('moov');
  if (!moov || moov.end - moov.start > MAX_MOVIE_BYTES) throw new UnsupportedMp4('No moov, or too large');
  // Metadata may be a picture.
  const kept = moov.children.filter(({ type, end }) => type !== 'udta' && type !== 'meta' && end <= moov.end);
  const state = box('moov', ...kept.map(({ whole }) => whole));
  const tracks = headersOf(state).map(({ kind, header }) => ({
    kind,
    timescale: header.timescale,
    sampleEntry: onlyEntry(header),
    presentation: Buffer.from(header.presentation),
  }));
  if (tracks.length === 0) throw new UnsupportedMp4('Neither video nor audio');
  return { tracks, state };
}

interface ReadTrack {
  readonly kind: HandlerType;
  readonly header: TrackHeader;
  /** Units by which its samples are shown later than their times say. */
  readonly delay: number;
  /** Of video. */
  readonly sets: ParameterSets | undefined;
}

function headersOf(moov: Buffer): readonly ReadTrack[] {
  const movie = indexBox(moov);
  if (movie?.type !== 'moov') throw new UnsupportedMp4('No moov');
  const present = listTrackKinds(movie);
  return KINDS.filter((kind) => present.includes(kind)).map((kind) => {
    const header = parseTrackHeader(movie, kind);
    if (!header.fragmentDefaults) throw new UnsupportedMp4('An initialization section without fragments');
    const sets = kind === 'vide' ? readParameterSets(onlyEntry(header)) : undefined;
    return { kind, header, delay: delayOf(header), sets };
  });
}

const known = new WeakMap<Encoding, readonly ReadTrack[]>();

function tracksOf(encoding: Encoding): readonly ReadTrack[] {
  const tracks = known.get(encoding) ?? headersOf(encoding.state);
  known.set(encoding, tracks);
  return tracks;
}

const setsOf = (encoding: Encoding) => tracksOf(encoding).find(({ kind }) => kind === 'vide')?.sets;

function onlyEntry({ sampleDescriptions }: TrackHeader): Buffer {
  const [entry, second] = indexBox(sampleDescriptions)?.childrenAfter(8) ?? [];
  if (!entry || second) throw new UnsupportedMp4('Several sample descriptions');
  return Buffer.from(entry.whole);
}

/** The delay of an edit list: empty edits delay what is shown, and a media time that is left out advances it (§8.6.6). */
function delayOf({ edits, movieTimescale, timescale }: TrackHeader): number {
  const first = edits.findIndex(({ mediaTime }) => mediaTime >= 0n);
  const empty = edits.slice(0, first < 0 ? edits.length : first).reduce((sum, { duration }) => sum + duration, 0);
  return Math.round((empty * timescale) / movieTimescale) - Number(edits[first]?.mediaTime ?? 0n);
}

interface Run {
  readonly kind: HandlerType;
  readonly decodeTime: number;
  readonly samples: readonly (RunSample & Pick<Sample, 'offset'>)[];
}

/** The samples of each track in some `moof` boxes, the main one first. */
const readRuns = (segment: Buffer, moofs: readonly Box[], encoding: Encoding, maxSamples?: number): readonly Run[] =>
  tracksOf(encoding).flatMap((track) => readRun(segment, moofs, track, maxSamples) ?? []);

/** All samples of a track in a segment, where nothing is shown before the first picture. */
const begun = (run: Run): Run =>
  run.kind === 'vide' && run.samples[0]?.isSync && isClosedGop(run) ? beginWhenShown(run) : run;

/** The samples of a track in some `moof` boxes as one run; undefined without samples. */
function readRun(
  segment: Buffer,
  moofs: readonly Box[],
  { kind, header, delay }: ReadTrack,
  maxSamples = Number.POSITIVE_INFINITY,
): Run | undefined {
  const { id, fragmentDefaults: defaults = Buffer.alloc(16) } = header;
  const samples: (RunSample & Pick<Sample, 'offset'>)[] = [];
  let start: number | undefined;
  let end = 0;
  for (const moof of moofs) {
    const fragment = { bytes: segment.subarray(moof.start, moof.end), offset: moof.start };
    for (const sample of parseFragmentSamples(fragment, id, defaults)) {
      if (sample.description !== 1) throw new UnsupportedMp4('Several sample descriptions');
      if (samples.length >= maxSamples) throw new TooManyPieces();
      if (samples.length === MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
      const { decodeTime, duration, compositionOffset, size, isSync, offset } = sample;
      start ??= decodeTime;
      // A gap between two fragments, or an overlap: the sample before lasts until this one.
      const before = samples.at(-1);
      if (before && decodeTime !== end)
        samples[samples.length - 1] = { ...before, duration: Math.max(0, before.duration + decodeTime - end) };
      samples.push({ duration, compositionOffset, size, isSync, offset });
      end = decodeTime + duration;
    }
  }
  return start === undefined ? undefined : { kind, decodeTime: start + delay, samples };
}

function firstShown({ decodeTime, samples }: Run): number {
  let time = decodeTime;
  let first = Number.POSITIVE_INFINITY;
  for (const { duration, compositionOffset } of samples) {
    first = Math.min(first, time + compositionOffset);
    time += duration;
  }
  return first;
}

const durationOf = (run: Run | undefined): number => run?.samples.reduce((sum, { duration }) => sum + duration, 0) ?? 0;

/** For its size, which no time is a part of. */
const toTrackRun = ({ samples }: Run, index: number): Omit<TrackRun, 'data'> => ({
  samples,
  decodeTime: 0,
  trackId: index + 1,
  description: 1,
});

/** Indexes of the samples that have their parameter sets. */
const accessPoints = ({ samples }: Run): ReadonlySet<number> =>
  new Set(samples.flatMap(({ isSync }, index) => (isSync || index === 0 ? index : [])).slice(0, MAX_SETS));

/** A run of video whose access points are larger by their parameter sets. */
function withSets(run: Run, sets: ParameterSets | undefined): Run {
  if (!sets || run.kind !== 'vide') return run;
  const points = accessPoints(run);
  const samples = run.samples.map((sample, index) =>
    points.has(index) ? { ...sample, size: sample.size + sets.bytes.length } : sample,
  );
  return { ...run, samples };
}

/** Bytes in front of the parameter sets of a sample. */
function delimiterBytes(sample: Buffer, { codec, lengthBytes }: ParameterSets): number {
  if (sample.length <= lengthBytes || !codec.isDelimiter(sample.subarray(lengthBytes))) return 0;
  return Math.min(sample.length, lengthBytes + sample.readUIntBE(0, lengthBytes));
}

/**
 * With the bytes of its samples: one slice for those that follow each other.
 * @param sets that access points of video have
 */
function toSegmentRun(run: Run, segment: Buffer, sets: ParameterSets | undefined): SegmentRun {
  const { kind, decodeTime, samples } = run;
  const points = sets && kind === 'vide' ? accessPoints(run) : undefined;
  const data: Buffer[] = [];
  let [first, end] = [0, 0];
  const close = () => {
    if (end > first) data.push(segment.subarray(first, end));
  };
  for (const [index, { offset, size }] of samples.entries()) {
    if (offset < 0 || offset + size > segment.length) throw new UnsupportedMp4('Samples beyond their segment');
    if (offset !== end) {
      close();
      first = offset;
    }
    if (sets && points?.has(index)) {
      end = offset + delimiterBytes(segment.subarray(offset, offset + size), sets);
      close();
      first = end;
      data.push(sets.bytes);
    }
    end = offset + size;
  }
  close();
  return { kind, decodeTime, samples: withSets(run, sets).samples, data };
}
