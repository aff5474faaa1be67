import {
  ADTS,
  CustomSource,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputFormat,
  type InputVideoTrack,
  MATROSKA,
  MP3,
  MP4,
  MPEG_TS,
  OGG,
  QTFF,
  WAVE,
  WEBM,
} from 'mediabunny';
import { duration } from '../../media/index.ts';
import type { AudioTraits, Track, VideoTraits } from '../../state/index.ts';
import { positiveInteger, positiveNumber, withoutAbsent } from '../yt-dlp/index.ts';
import type { Block } from './guarded-reader.ts';

/** A file, or the beginning of one, as far as it has been read. */
export interface ContainerRequest {
  /** Bytes of the whole. */
  readonly size: number;
  readonly blocks: readonly Block[];
  readonly wantsDuration: boolean;
  /** There are no more bytes to be had: what these say is all. */
  readonly isLast: boolean;
}

/** What a container says of the file. */
export type Contents = Pick<Track, 'container' | 'video' | 'audio'> & Pick<Partial<Track>, 'durationSeconds'>;

/** Null: a container of nothing. Neither: it cannot be read. */
export interface Reading {
  readonly contents?: Contents | null;
  /** The first bytes that were not there: asked again with them, it says more. */
  readonly missing?: readonly [start: number, end: number];
}

/** No HLS: a manifest would be followed to wherever it points. */
const FORMATS = [MP4, QTFF, WEBM, MATROSKA, WAVE, OGG, FLAC, MP3, ADTS, MPEG_TS];

const VIDEO_CONTAINERS = new Map<InputFormat, string>([
  [MP4, 'mp4'],
  [QTFF, 'mov'],
  [WEBM, 'webm'],
  [MATROSKA, 'mkv'],
  [OGG, 'ogv'],
  [MPEG_TS, 'ts'],
]);
const AUDIO_CONTAINERS = new Map<InputFormat, string>([
  [MP4, 'm4a'],
  [QTFF, 'm4a'],
  [WEBM, 'webm'],
  [MATROSKA, 'mka'],
  [OGG, 'ogg'],
  [MPEG_TS, 'ts'],
  [FLAC, 'flac'],
  [MP3, 'mp3'],
  [WAVE, 'wav'],
  [ADTS, 'aac'],
]);

/** Reads the container of a file. What it costs is up to the file: time without end, and all of the memory. */
export async function readContainer({ size, blocks, wantsDuration, isLast }: ContainerRequest): Promise<Reading> {
  let missing: Reading['missing'];
  const read = (start: number, end: number) => {
    const block = blocks.find((each) => start >= each.start && end <= each.start + each.bytes.length);
    if (block) return block.bytes.subarray(start - block.start, end - block.start);
    missing ??= [start, end];
    throw new Error('Not there');
  };
  const input = new Input({
    source: new CustomSource({ getSize: () => size, read, handleUnhandledError: () => undefined }),
    formats: FORMATS,
  });
  try {
    const contents = await readContents(input, wantsDuration);
    return missing && !isLast ? { missing } : { contents };
  } catch {
    // Not one of its formats, or damaged, unless it goes on where nothing is yet.
    return missing && !isLast ? { missing } : {};
  } finally {
    input.dispose();
  }
}

async function readContents(input: Input, wantsDuration: boolean): Promise<Contents | null> {
  const format = await input.getFormat();
  const tracks = { video: await input.getPrimaryVideoTrack(), audio: await input.getPrimaryAudioTrack() };
  const container = (tracks.video ? VIDEO_CONTAINERS : AUDIO_CONTAINERS).get(format);
  // An image in an MP4 box, an archive that looks like a frame of MP3: a container of nothing.
  if (!container || (!tracks.video && !tracks.audio)) return null;
  const video = tracks.video && (await videoTraits(tracks.video));
  const audio = tracks.audio && (await audioTraits(tracks.audio));
  const durationSeconds = wantsDuration ? await durationOf(tracks.audio ?? tracks.video) : undefined;
  return { container, video, audio, ...(durationSeconds && { durationSeconds }) };
}

const videoTraits = async (track: InputVideoTrack): Promise<VideoTraits> =>
  withoutAbsent({
    codec: await codecOf(track),
    height: positiveInteger(await track.getDisplayHeight()),
    width: positiveInteger(await track.getDisplayWidth()),
  });

const audioTraits = async (track: InputAudioTrack): Promise<AudioTraits> => {
  const bitrate = (await track.getAverageBitrate()) ?? (await track.getBitrate());
  return withoutAbsent({
    codec: await codecOf(track),
    sampleRate: positiveInteger(await track.getSampleRate()),
    bitrate: positiveNumber(bitrate && bitrate / 1000),
  });
};

const codecOf = async (track: InputVideoTrack | InputAudioTrack): Promise<string | undefined> =>
  (await track.getCodecParameterString()) ?? (await track.getCodec()) ?? undefined;

/**
 * Seconds: what the header says, where that can be, else from the first to the last packet, as far as the reader's bounds allow: the clock
 * of a container without a header begins anywhere.
 */
async function durationOf(track: InputVideoTrack | InputAudioTrack | null): Promise<number | undefined> {
  try {
    const written = duration(await track?.getDurationFromMetadata());
    const seconds = written ?? ((await track?.computeDuration()) ?? 0) - ((await track?.getFirstTimestamp()) ?? 0);
    return duration(Math.round(seconds * 1e6) / 1e6);
  } catch {
    // Out of bounds: a long file whose header does not say. It is offered without its duration.
    return undefined;
  }
}
