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
import type { AudioTraits, Track, VideoTraits } from '../state/index.ts';
import type { GuardedReader } from './guarded-reader.ts';
import { sniff } from './sniff.ts';

/** What the bytes of a file say of it. */
export type Facts = Pick<Track, 'container' | 'video' | 'audio'> & Partial<Pick<Track, 'durationSeconds' | 'bitrate'>>;

/** No HLS: a manifest would be followed to wherever it points. */
const FORMATS = [MP4, QTFF, WEBM, MATROSKA, WAVE, OGG, FLAC, MP3, ADTS, MPEG_TS];
/** Stands for the end of a file that does not say where it ends. */
const FAR_AWAY = 2 ** 40;

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

/**
 * Reads what a file is from its container: codecs, height, the exact duration. A container that cannot be read but is
 * known by its magic bytes is media too, without figures. Undefined: not media.
 */
export async function probe(reader: GuardedReader): Promise<Facts | undefined> {
  if (reader.head.length === 0) return undefined;
  const input = inputOf(reader.size ?? FAR_AWAY, reader.read);
  try {
    const [traits, tracks] = await readTraits(input);
    const durationSeconds = traits && (await durationOf(tracks.audio ?? tracks.video));
    return (
      traits && { ...traits, ...(durationSeconds && { durationSeconds }), ...bitrateOf(reader.size, durationSeconds) }
    );
  } catch {
    // Not one of its formats, damaged, or its index is out of reach: the magic bytes decide.
    return sniffed(reader.head);
  } finally {
    input.dispose();
  }
}

/** Codecs and height as the beginning of a segment, or its initialization section, says them. Undefined: it does not. */
export async function probeSegment(bytes: Buffer): Promise<Pick<Track, 'video' | 'audio'> | undefined> {
  const input = inputOf(bytes.length, async (start, end) => bytes.subarray(start, end));
  try {
    const [traits] = await readTraits(input);
    return traits && { video: traits.video, audio: traits.audio };
  } catch {
    // What cannot be read stays unknown.
    return undefined;
  } finally {
    input.dispose();
  }
}

const inputOf = (size: number, read: GuardedReader['read']) =>
  new Input({
    source: new CustomSource({ getSize: () => size, read, handleUnhandledError: () => undefined }),
    formats: FORMATS,
  });

async function readTraits(input: Input) {
  const format = await input.getFormat();
  const tracks = { video: await input.getPrimaryVideoTrack(), audio: await input.getPrimaryAudioTrack() };
  const container = (tracks.video ? VIDEO_CONTAINERS : AUDIO_CONTAINERS).get(format);
  // An image in an MP4 box, an archive that looks like a frame of MP3: a container of nothing.
  if (!container || (!tracks.video && !tracks.audio)) return [undefined, tracks] as const;
  const video = tracks.video && (await videoTraits(tracks.video));
  const audio = tracks.audio && (await audioTraits(tracks.audio));
  return [{ container, video, audio }, tracks] as const;
}

const videoTraits = async (track: InputVideoTrack): Promise<VideoTraits> => ({
  ...(await codecOf(track)),
  height: await track.getDisplayHeight(),
  width: await track.getDisplayWidth(),
});

const audioTraits = async (track: InputAudioTrack): Promise<AudioTraits> => {
  const bitrate = (await track.getAverageBitrate()) ?? (await track.getBitrate());
  return {
    ...(await codecOf(track)),
    sampleRate: await track.getSampleRate(),
    ...(bitrate && { bitrate: bitrate / 1000 }),
  };
};

async function codecOf(track: InputVideoTrack | InputAudioTrack): Promise<{ codec?: string }> {
  const codec = (await track.getCodecParameterString()) ?? (await track.getCodec());
  return codec ? { codec } : {};
}

/**
 * Seconds: what the header says, else from the first to the last packet, as far as the reader's bounds allow: the clock
 * of a container without a header begins anywhere.
 */
async function durationOf(track: InputVideoTrack | InputAudioTrack | null): Promise<number | undefined> {
  try {
    const written = await track?.getDurationFromMetadata();
    const seconds = written ?? ((await track?.computeDuration()) ?? 0) - ((await track?.getFirstTimestamp()) ?? 0);
    return seconds > 0 ? Math.round(seconds * 1e6) / 1e6 : undefined;
  } catch {
    // Out of bounds: a long file whose header does not say. It is offered without its duration.
    return undefined;
  }
}

function sniffed(head: Buffer): Facts | undefined {
  const found = sniff(head);
  return found && { container: found.container, video: found.audioOnly ? null : {}, audio: {} };
}

const bitrateOf = (size: number | undefined, seconds: number | undefined) =>
  size && seconds ? { bitrate: (size * 8) / seconds / 1000 } : {};
