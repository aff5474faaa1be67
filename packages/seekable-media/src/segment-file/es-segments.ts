import { h264, hevc, MIN_FRAME_BYTES, type VideoCodec } from '../elementary/index.ts';
import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { EsCodec, EsStream } from '../mpegts/demux.ts';
import { CLOCK_HZ, ticksBetween } from '../mpegts/packets.ts';
import { firstFrame, readFrames } from './audio-run.ts';
import {
  type Encoding,
  type MoreBytes,
  type Mutable,
  presentationOf,
  type SegmentFacts,
  type SegmentHead,
  type SegmentRun,
  type SegmentTrack,
} from './segment-format.ts';
import { beginTicks, picturesOf, readPictures, setsOf } from './video-run.ts';

/** What reading the segments of an encoding needs. */
interface State {
  readonly video?: {
    readonly codec: EsCodec;
    readonly width: number;
    readonly height: number;
    /** In base64. */
    readonly sets: readonly string[];
  };
  readonly audio?: { readonly codec: EsCodec; readonly signature: string };
  /** What comes before each segment, in base64. */
  readonly tables?: string | undefined;
}

/** Fields of a fragment beyond those that the segment has room for. */
const FRAGMENT_BYTES = 512;
/** The size of a frame in `trun`. */
const SIZE_BYTES = 4;

const VIDEO_CODECS: Readonly<Partial<Record<EsCodec, VideoCodec>>> = { h264, hevc };

const videoOf = (streams: readonly EsStream[]) => {
  const stream = streams.find(({ codec }) => VIDEO_CODECS[codec]);
  const codec = stream && VIDEO_CODECS[stream.codec];
  return codec && { stream, codec };
};
const audioOf = (streams: readonly EsStream[]) => streams.find(({ codec }) => !VIDEO_CODECS[codec]);

/** `State.tables` of an encoding. */
export function tablesOf({ state }: Encoding): Buffer | undefined {
  const { tables }: State = JSON.parse(state.toString());
  return tables === undefined ? undefined : Buffer.from(tables, 'base64');
}

/**
 * What the elementary streams in the head of a segment say; `undefined`: more of it is needed.
 * @param tables that come before each segment
 */
export function inspectStreams(
  streams: readonly EsStream[],
  head: Pick<SegmentHead, 'bytes' | 'isWhole' | 'size' | 'encoding'>,
  tables?: Buffer,
): SegmentFacts | MoreBytes {
  const video = videoOf(streams);
  const audio = audioOf(streams);
  const picture = video && firstPicture(video.codec, video.stream, head.isWhole);
  const frame = audio && firstFrame(audio);
  const startTicks = audio?.packets[0]?.ticks;
  const more = { neededBytes: head.bytes.length * 4 };
  const isComplete = head.encoding
    ? picture || (!video && frame) || (head.isWhole && frame)
    : (picture || !video) && (frame || !audio) && streams.length > 0;
  if (!isComplete) {
    if (head.isWhole) throw new UnsupportedMp4('A segment without the first picture or sound');
    return more;
  }
  const encoding = head.encoding ?? describe(picture && { ...picture, ...video }, frame && { ...audio, frame }, tables);
  if (picture)
    return {
      encoding,
      mainKind: 'vide',
      startTime: beginTicks(video.codec, picture),
      earliestTime:
        picture.decodeTicks +
        Math.min(
          ...[picture.ticks, startTicks ?? picture.ticks].map((ticks) => ticksBetween(picture.decodeTicks, ticks)),
        ),
      startsWithSync: video.codec.isSync(picture.units),
      maxBytes: head.size + FRAGMENT_BYTES,
    };
  if (!frame || startTicks === undefined) throw new UnsupportedMp4('Audio without a time');
  const startTime = Math.round((startTicks * frame.rate) / CLOCK_HZ);
  return {
    encoding,
    mainKind: 'soun',
    startTime,
    earliestTime: startTime,
    startsWithSync: true,
    maxBytes: boundAudio(head.size, audio?.codec),
  };
}

/** `SegmentFormat.boundFragment` of elementary streams. */
export function boundStreams(segmentBytes: number, { state }: Encoding): number {
  const { video, audio }: State = JSON.parse(state.toString());
  return video ? segmentBytes + FRAGMENT_BYTES : boundAudio(segmentBytes, audio?.codec);
}

/** Of frames with a header of their own, MP4 leaves it out; of others, it has the size besides. */
const boundAudio = (segmentBytes: number, codec: EsCodec | undefined): number =>
  segmentBytes + FRAGMENT_BYTES + (codec === 'aac' ? 0 : Math.ceil(segmentBytes / MIN_FRAME_BYTES) * SIZE_BYTES);

/** The first picture as far as its first slice; undefined where that is not there yet. */
function firstPicture(codec: VideoCodec, stream: EsStream, isWhole: boolean) {
  const [first] = picturesOf(codec, stream).take(1);
  if (!first) return undefined;
  const slice = first.units.findIndex((unit) => codec.isSlice(unit));
  // The last unit that is there may be cut within its header.
  const isThere = slice >= 0 && (isWhole || !first.isLast || (first.units[slice]?.length ?? 0) >= 32);
  if (!isThere && !first.isLast) throw new UnsupportedMp4('A first picture without slices');
  return isThere ? first : undefined;
}

interface FoundVideo {
  readonly codec: VideoCodec;
  readonly stream: EsStream;
  readonly units: readonly Buffer[];
}

interface FoundAudio {
  readonly codec: EsCodec;
  readonly frame: NonNullable<ReturnType<typeof firstFrame>>;
}

function describe(video: FoundVideo | undefined, audio: FoundAudio | undefined, tables: Buffer | undefined): Encoding {
  const tracks: SegmentTrack[] = [];
  const state: Mutable<State> = { tables: tables?.toString('base64') };
  if (video) {
    const sets = setsOf(video.codec, video.units);
    const { width, height, sampleEntry } = video.codec.describe(sets);
    tracks.push({ kind: 'vide', timescale: CLOCK_HZ, sampleEntry, presentation: presentationOf({ width, height }) });
    const texts = sets.flat().map((set) => set.toString('base64'));
    state.video = { codec: video.stream.codec, width, height, sets: texts };
  }
  if (audio) {
    const { rate, signature } = audio.frame;
    tracks.push({ kind: 'soun', timescale: rate, sampleEntry: audio.frame.describe(), presentation: presentationOf() });
    state.audio = { codec: audio.codec, signature };
  }
  return { tracks, state: Buffer.from(JSON.stringify(state)) };
}

/** The samples of the streams of a segment. @throws UnsupportedMp4 where they are not those of the encoding */
export function readStreams(
  streams: readonly EsStream[],
  encoding: Encoding,
  maxPieces?: number,
  hasSets?: boolean,
): readonly SegmentRun[] {
  const state: State = JSON.parse(encoding.state.toString());
  const runs: SegmentRun[] = [];
  const video = state.video && videoOf(streams);
  const pictures = video && readPictures(video.codec, video.stream, maxPieces, hasSets);
  if (state.video && pictures) {
    if (video.stream.codec !== state.video.codec) throw new UnsupportedMp4('Video of another codec');
    checkSets(video.codec, pictures.sets, state.video);
    const { decodeTicks: decodeTime, samples, data } = pictures;
    runs.push({ kind: 'vide', decodeTime, samples, data, lacksLengths: true });
  }
  const audio = state.audio && audioOf(streams);
  const frames = audio && readFrames(audio, maxPieces);
  if (state.audio && frames) {
    if (audio.codec !== state.audio.codec || frames.signature !== state.audio.signature)
      throw new UnsupportedMp4('Audio of another encoding');
    // From the first picture on, so that the clock does not begin again between the two.
    const start = pictures?.decodeTicks ?? frames.ticks;
    const ticks = start + ticksBetween(start, frames.ticks);
    const decodeTime = Math.round((ticks * frames.rate) / CLOCK_HZ);
    runs.push({ kind: 'soun', decodeTime, samples: frames.samples, data: frames.data });
  }
  return runs;
}

/** Parameter sets that differ from those of the header are known to players only where samples may have them. */
function checkSets(codec: VideoCodec, sets: readonly Buffer[], known: NonNullable<State['video']>): void {
  const same = new Set(known.sets);
  for (const set of sets) {
    if (same.has(set.toString('base64'))) continue;
    if (!codec.keepsSets) throw new UnsupportedMp4('Video that changes without notice');
    // An SPS says the size.
    if (codec.setKind(set) !== 0) continue;
    const { width, height } = codec.describe([[set], []]);
    if (width !== known.width || height !== known.height) throw new UnsupportedMp4('Video that changes its size');
  }
}
