import { commonTimescale, type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';
import type { PackedSubsegmentTrack, Piece, SubsegmentTrackFacts } from './subsegment-table.ts';
import type { SourceFragment, TrackFragments } from './track-fragments.ts';

/**
 * A fragmented output: subsegments of known size, each with one fragment of the video and the audio of its time. Only the headers of the
 * sources are needed for it.
 */
export interface SubsegmentPlan {
  /** Units per second of all tracks of the output. */
  readonly timescale: number;
  readonly subsegments: readonly Subsegment[];
  /** By track of the output. */
  readonly tracks: readonly SubsegmentTrack[];
  /** Seconds by which the presentation begins later than in its sources, whose edit lists are not kept. */
  readonly delaySeconds: number;
}

export interface Subsegment {
  readonly bytes: number;
  /** Of its first video sample, in units of the output. */
  readonly time: number;
  readonly duration: number;
  readonly accessPoint: number;
}

/** What the subsegments have of a track. */
export interface SubsegmentTrack extends SubsegmentTrackFacts {
  readonly fragments: readonly SourceFragment[];
  /** The pieces of each fragment, in order; a fragment has at least one. */
  readonly pieces: readonly (readonly Piece[])[];
  /** The pieces of each subsegment; those of one fragment follow each other. */
  readonly subsegments: readonly (readonly PieceIndex[])[];
  /** Of the video: `time` of each subsegment. */
  readonly times: readonly number[];
}

export interface PieceIndex {
  readonly fragment: number;
  readonly piece: number;
}

/** More than any subsegment needs besides its samples and their fields: `moof`, `mfhd`, the header of `mdat`; `traf`, `tfhd`, `tfdt`, `trun`. */
const SUBSEGMENT_BYTES = 32;
const SUBSEGMENT_TRACK_BYTES = 84;
/** Reserve above the proportional share of a fragment: bit rates vary. */
const MARGIN = 0.1;
/** Fields of one sample, and a box header. */
const ROW_BYTES = 24;
/** What players can seek to, as a whole. */
const MAX_SUBSEGMENT_BYTES = 32 * 1024 * 1024;
const MAX_UINT32 = 0xffff_ffff;

/**
 * @param sources the video, then the audio. Audio of the video's own file has its fragments
 * @param hasOwnTimes tracks keep the times that they have in their files. @default they begin together
 * @throws UnsupportedMp4
 */
export function planSubsegments(
  sources: readonly [TrackFragments, ...TrackFragments[]],
  hasOwnTimes = false,
): SubsegmentPlan {
  const [video, ...audio] = sources;
  // Libavformat up to 5.1 looks for the audio of a time in an index with the times of the video, which it does not convert: with other
  // units it reads on at another place, and seconds of both are missing.
  const timescale = commonTimescale(sources.map(({ header }) => header.timescale));
  const delaySeconds = hasOwnTimes ? 0 : Math.max(...sources.map(({ hiddenSeconds }) => hiddenSeconds));
  const zeroSeconds = hasOwnTimes ? 0 : firstOf(sources);
  const shiftOf = ({ hiddenSeconds, clockSeconds = zeroSeconds }: TrackFragments) =>
    clockSeconds - zeroSeconds + (hasOwnTimes ? 0 : delaySeconds - hiddenSeconds);
  const starts = video.fragments.map(
    ({ time }, index) => time / video.header.timescale + shiftOf(video) - (index === 0 ? 0 : video.leadSeconds),
  );
  const bytes = video.fragments.map(
    ({ maxBytes }) => SUBSEGMENT_BYTES + SUBSEGMENT_TRACK_BYTES * sources.length + maxBytes,
  );
  const whole = (source: TrackFragments) => ({
    pieces: source.fragments.map(({ maxBytes }) => [{ until: Number.POSITIVE_INFINITY, budget: maxBytes }]),
    subsegments: source.fragments.map((_, fragment) => [{ fragment, piece: 0 }]),
  });
  const cut = [
    whole(video),
    ...audio.map((source) =>
      source.source === video.source
        ? whole(source)
        : cutAtSubsegments(source, {
            starts: starts.map((start) => (start - shiftOf(source)) * source.header.timescale),
            bytes,
          }),
    ),
  ];
  if (bytes.some((each) => each > MAX_SUBSEGMENT_BYTES)) throw new UnsupportedMp4('Fragment too large');
  const units = [...starts, lastEnd(video) + shiftOf(video)].map((seconds) =>
    Math.max(0, Math.round(seconds * timescale)),
  );
  return {
    timescale,
    delaySeconds,
    subsegments: video.fragments.map(({ accessPoint }, index) => {
      const duration = (units[index + 1] ?? 0) - (units[index] ?? 0);
      if (duration < 0 || duration > MAX_UINT32) throw new UnsupportedMp4('Duration of a fragment out of range');
      return { bytes: bytes[index] ?? 0, time: units[index] ?? 0, duration, accessPoint };
    }),
    tracks: sources.map((source, index) => ({
      source: source.source,
      sourceId: source.header.id,
      defaults: source.header.fragmentDefaults ?? Buffer.alloc(16),
      factor: timescale / source.header.timescale,
      shift: Math.round(shiftOf(source) * timescale),
      fragments: source.fragments,
      pieces: cut[index]?.pieces ?? [],
      subsegments: cut[index]?.subsegments ?? [],
      // The samples of a list are at their times already.
      times: index === 0 && source.clockSeconds === undefined ? units.slice(0, -1) : [],
    })),
  };
}

/** Beyond this, the clocks of two lists are unrelated. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 30;

/** When the first of some lists begins, on their common clock. @throws UnsupportedMp4 when they have none */
function firstOf(sources: readonly TrackFragments[]): number {
  const clocks = sources.flatMap(({ clockSeconds }) => clockSeconds ?? []);
  const first = Math.min(...clocks);
  if (clocks.some((seconds) => seconds - first > MAX_CLOCK_DIFFERENCE_SECONDS))
    throw new UnsupportedMp4('Lists of segments with unrelated clocks');
  return clocks.length > 0 ? first : 0;
}

/** Seconds of the track's own decode times. */
export function lastEnd({ fragments, header }: TrackFragments): number {
  const last = fragments.at(-1);
  return last ? (last.time + last.duration) / header.timescale : 0;
}

/**
 * Assigns the samples of each fragment to the subsegments of their time. What their samples have of a budget is known only when they are
 * read: see `cutPieces`.
 * @param starts of the subsegments, in units of the track
 * @param bytes of the subsegments, to which the budgets are added
 */
function cutAtSubsegments(
  { fragments, header }: TrackFragments,
  { starts, bytes }: { readonly starts: readonly number[]; readonly bytes: number[] },
): Pick<SubsegmentTrack, 'pieces' | 'subsegments'> {
  const subsegments: PieceIndex[][] = starts.map(() => []);
  const largest = largestSampleBytes(header);
  let subsegment = 0;
  const pieces = fragments.map(({ time, duration, maxBytes }, fragment) => {
    const list: Piece[] = [];
    const end = time + duration;
    while ((starts[subsegment + 1] ?? Number.POSITIVE_INFINITY) <= time) subsegment += 1;
    for (let from = time; ; subsegment += 1) {
      const next = starts[subsegment + 1] ?? Number.POSITIVE_INFINITY;
      const isLast = next >= end;
      const share = duration > 0 ? (Math.min(next, end) - from) / duration : 1;
      const isWhole = isLast && list.length === 0;
      const budget = isWhole
        ? maxBytes
        : Math.min(maxBytes, Math.ceil(maxBytes * share * (1 + MARGIN)) + largest + ROW_BYTES);
      subsegments[subsegment]?.push({ fragment, piece: list.length });
      bytes[subsegment] = (bytes[subsegment] ?? 0) + budget;
      list.push({ until: isLast ? Number.POSITIVE_INFINITY : next, budget });
      if (isLast) return list;
      from = next;
    }
  });
  return { pieces, subsegments };
}

/** What no sample of a codec exceeds. */
function largestSampleBytes({ sampleDescriptions }: TrackHeader): number {
  const entry = sampleDescriptions.toString('latin1', 20, 24);
  // `channelcount` of the sample entry (ISO/IEC 14496-12 §12.2.3). AAC has at most 6,144 bits a channel.
  if (entry === 'mp4a') return Math.max(2, sampleDescriptions.readUInt16BE(40)) * 768;
  return entry === 'fLaC' || entry === 'alac' ? 64 * 1024 : 4096;
}

/** @param addOwn adds bytes to the layout's own ones, and returns their offset there */
export function packSubsegmentTrack(track: SubsegmentTrack, addOwn: (bytes: Buffer) => number): PackedSubsegmentTrack {
  const { source, sourceId, defaults, factor, shift, fragments, pieces, subsegments, times } = track;
  const countBefore = (lists: readonly (readonly unknown[])[]) => {
    const counts = new Uint32Array(lists.length + 1);
    for (const [index, list] of lists.entries()) counts[index + 1] = (counts[index] ?? 0) + list.length;
    return counts;
  };
  const packed = fragments.flatMap(({ offset, bytes, moof }) => [
    offset,
    bytes,
    moof ? addOwn(moof) : 0,
    moof?.length ?? 0,
  ]);
  return {
    source,
    sourceId,
    defaults: Buffer.alloc(defaults.length, defaults),
    factor,
    shift,
    fragments: Float64Array.from(packed),
    firstPieces: countBefore(pieces),
    pieces: Float64Array.from(pieces.flat().flatMap(({ until, budget }) => [until, budget])),
    subsegments: countBefore(subsegments),
    times: Float64Array.from(times),
  };
}
