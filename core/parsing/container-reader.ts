import {
  LARGE_BOX_HEADER_BYTES,
  parseBoxes,
  readTableDuration,
  type TableDuration,
} from '@reelay/seekable-media/isobmff';
import { readStreamTypes } from '@reelay/seekable-media/mpegts/segment-probe';
import { readOggStreams } from '@reelay/seekable-media/ogg';
import {
  duration,
  plausibleDuration,
  positiveInteger,
  positiveNumber,
  withoutAbsent,
} from '@reelay/seekable-media/values';
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

/** Bytes of a file at the offset `start`. */
export interface FileBlock {
  readonly start: number;
  readonly bytes: Buffer;
}

/** The parts of a file that have been read. */
export interface ContainerRequest {
  /** Bytes of the whole file. */
  readonly size: number;
  readonly blocks: readonly FileBlock[];
  readonly wantsDuration: boolean;
  /** No more bytes are available: the result is based on these blocks alone. */
  readonly isLast: boolean;
}

/** Traits of a file, read from its container. */
export type Contents = Pick<Track, 'container' | 'video' | 'audio'> & Pick<Partial<Track>, 'durationSeconds'>;

/** Without either field, the container cannot be read. */
export interface ContainerResponse {
  /** Null for a container without media tracks. */
  readonly contents?: Contents | null;
  /** The first range that was not in `blocks`: the request can be repeated with it. */
  readonly missing?: readonly [start: number, end: number];
}

/** Without HLS: mediabunny would follow a manifest to any address. */
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

/** See `READ_CONTAINER`. */
export async function readContainer({
  size,
  blocks,
  wantsDuration,
  isLast,
}: ContainerRequest): Promise<ContainerResponse> {
  let missing: ContainerResponse['missing'];
  const read = (start: number, end: number) => {
    const bytes = findBytes(blocks, start, end);
    if (bytes) return bytes;
    missing ??= [start, end];
    throw new Error('Missing block');
  };
  const input = new Input({
    source: new CustomSource({ getSize: () => size, read, handleUnhandledError: () => undefined }),
    formats: FORMATS,
  });
  try {
    const contents = await readContents(
      input,
      size,
      headOf(blocks),
      wantsDuration ? () => findMovie(blocks) : undefined,
    );
    return missing && !isLast ? { missing } : { contents };
  } catch {
    // An unknown format or a damaged file, unless a block was missing.
    return missing && !isLast ? { missing } : {};
  } finally {
    input.dispose();
  }
}

/**
 * @param head what was read of the beginning
 * @param findMoov gives its content. Absent: the duration is not wanted
 */
async function readContents(
  input: Input,
  size: number,
  head: Buffer,
  findMoov: (() => Buffer | undefined) | undefined,
): Promise<Contents | null> {
  const format = await input.getFormat();
  const tracks = { video: await input.getPrimaryVideoTrack(), audio: await input.getPrimaryAudioTrack() };
  const unread = unreadTracks(format, head);
  const video = tracks.video ? await videoTraits(tracks.video) : unread.video;
  const audio = tracks.audio ? await audioTraits(tracks.audio) : unread.audio;
  const container = (video ? VIDEO_CONTAINERS : AUDIO_CONTAINERS).get(format);
  // For example an AVIF image, or an archive that resembles an MP3 frame.
  if (!container || (!video && !audio)) return null;
  if (!findMoov) return { container, video, audio };
  const written = await durationOf(tracks.audio ?? tracks.video, size);
  const moov = findMoov();
  const durationSeconds = checkDuration(written, moov && readTableDuration(moov, tracks.audio ? 'soun' : 'vide'), size);
  return { container, video, audio, ...(durationSeconds && { durationSeconds }) };
}

const videoTraits = async (track: InputVideoTrack): Promise<VideoTraits> =>
  pictureTraits({
    codec: await codecOf(track),
    height: await track.getDisplayHeight(),
    width: await track.getDisplayWidth(),
  });

const pictureTraits = ({ codec, width, height }: VideoTraits): VideoTraits =>
  withoutAbsent({ codec, height: positiveInteger(height), width: positiveInteger(width) });

const audioTraits = async (track: InputAudioTrack): Promise<AudioTraits> => {
  const bitrate = (await track.getAverageBitrate()) ?? (await track.getBitrate());
  return withoutAbsent({
    codec: await codecOf(track),
    sampleRate: positiveInteger(await track.getSampleRate()),
    bitrate: positiveNumber(bitrate && bitrate / 1000),
  });
};

const codecOf = async (track: InputVideoTrack | InputAudioTrack): Promise<string | undefined> =>
  (await track.getCodecParameterString()) ?? (await track.getCodec()) ?? codecName(await track.getInternalCodecId());

/**
 * Seconds from the header, if plausible, else from the first to the last packet, since timestamps of a container without a
 * header may start anywhere.
 */
async function durationOf(track: InputVideoTrack | InputAudioTrack | null, size: number): Promise<number | undefined> {
  try {
    const written = plausibleDuration(duration(await track?.getDurationFromMetadata()), size);
    const seconds = written ?? ((await track?.computeDuration()) ?? 0) - ((await track?.getFirstTimestamp()) ?? 0);
    return plausibleDuration(duration(Math.round(seconds * 1e6) / 1e6), size);
  } catch {
    // A long file without a duration in its header, beyond the read limits: its duration stays unknown.
    return undefined;
  }
}

/** Edit lists and the rounding of headers, in seconds and as a factor of the duration that the sample tables add up to. */
const TOLERANCE_SECONDS = 1;
const TOLERANCE = 1.05;

/**
 * The duration, unless the samples cannot last as long: then their sum. Undefined when the file cannot hold the samples
 * either, or their durations are not those of samples.
 */
function checkDuration(
  seconds: number | undefined,
  tables: TableDuration | undefined,
  size: number,
): number | undefined {
  // Without any in the tables, the samples are in fragments.
  if (seconds === undefined || !tables || tables.seconds === 0) return seconds;
  if (tables.bytes > size || tables.longestSeconds > tables.maxSampleSeconds) return undefined;
  return seconds > tables.seconds * TOLERANCE + TOLERANCE_SECONDS ? duration(tables.seconds) : seconds;
}

/** Top-level boxes before `moov`. */
const MAX_TOP_LEVEL_BOXES = 64;

/** The content of `moov` when one block holds all of it. */
function findMovie(blocks: readonly FileBlock[]): Buffer | undefined {
  let offset = 0;
  for (let count = 0; count < MAX_TOP_LEVEL_BOXES; count++) {
    const [box] = parseBoxes(findBytes(blocks, offset, offset + LARGE_BOX_HEADER_BYTES) ?? Buffer.alloc(0));
    if (!box) return undefined;
    if (box.type === 'moov') return findBytes(blocks, offset + box.content, offset + box.end);
    offset += box.end;
  }
  return undefined;
}

/** What was read of the beginning of a file, which is the first block. */
const headOf = ([first]: readonly FileBlock[]): Buffer =>
  (first && findBytes([first], 0, first.bytes.length)) ?? Buffer.alloc(0);

/** The bytes of a range, `end` excluded, when one block holds all of it. */
function findBytes(blocks: readonly FileBlock[], start: number, end: number): Buffer | undefined {
  const block = blocks.find((each) => start >= each.start && end <= each.start + each.bytes.length);
  // The bytes of another process arrive as a Uint8Array.
  return block && Buffer.from(block.bytes.buffer, block.bytes.byteOffset + start - block.start, end - start);
}

/** Stream types of MPEG-TS that mediabunny leaves out (ISO/IEC 13818-1 table 2-34, and registrations of SMPTE and AVS). */
const VIDEO_TYPES = new Map([
  [0x01, 'mpeg1video'],
  [0x02, 'mpeg2video'],
  [0x10, 'mp4v'],
  [0x33, 'vvc'],
  [0x42, 'cavs'],
  [0xd1, 'dirac'],
  [0xd2, 'avs2'],
  [0xea, 'vc1'],
]);
/** AAC in LATM, which MP4 holds only once it is unpacked. */
const AUDIO_TYPES = new Map([[0x11, 'latm']]);

/**
 * The first tracks that a container declares and mediabunny leaves out, as it does with all codecs of Ogg but Vorbis and Opus:
 * without them a film would count as its sound. Containers of other formats list tracks whose codec is unknown.
 * @param head the beginning of the file
 */
function unreadTracks(format: InputFormat, head: Buffer): Pick<Track, 'video' | 'audio'> {
  if (format === OGG) {
    const streams = readOggStreams(head);
    const video = streams.find(({ kind }) => kind === 'video');
    const audio = streams.find(({ kind }) => kind === 'audio');
    return { video: video ? pictureTraits(video) : null, audio: audio ? { codec: audio.codec } : null };
  }
  const types = format === MPEG_TS ? readStreamTypes(head) : [];
  const [video, audio] = [VIDEO_TYPES, AUDIO_TYPES].map((known) => types.flatMap((type) => known.get(type) ?? [])[0]);
  return { video: video ? { codec: video } : null, audio: audio ? { codec: audio } : null };
}

/** Names of codecs in Matroska that differ from those of other containers. */
const MATROSKA_CODECS: readonly (readonly [id: RegExp, codec: string])[] = [
  [/^V_MPEG4\/MS.*/, 'msmpeg4'],
  [/^V_MPEG4\/.*/, 'mp4v'],
  [/^V_MPEG([12])$/, 'mpeg$1video'],
  [/^V_MS\/VFW.*/, 'vfw'],
  [/^A_MPEG\/L([12])$/, 'mp$1'],
  [/^[AV]_(.+)$/, '$1'],
];

/**
 * The codec of a track that mediabunny cannot name, by its id in the container: `mp4v`, `alac`, `V_MPEG2`.
 * @returns undefined for an id that is no name
 */
function codecName(id: unknown): string | undefined {
  if (typeof id !== 'string') return undefined;
  const [pattern, codec] = MATROSKA_CODECS.find(([known]) => known.test(id)) ?? [/$/, ''];
  const name = id.replace(pattern, codec).trim().toLowerCase();
  return /^[\w.-][\w./ -]{0,31}$/.test(name) ? name : undefined;
}
