import { keptParts } from '@reelay/seekable-media/parts/skipping';
import { fullId3Tag, id3Tag } from '@reelay/seekable-media/tags/id3';
import { wavHeader } from '@reelay/seekable-media/tags/wav-header';
import {
  type ConversionName,
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  type Mp3BitrateKbps,
  mp3FrameBytes,
  mp3Frames,
  recordingText,
  tagText,
  WAV_FORMAT,
} from '../../../core/conversions/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { RenditionQuery } from '../representation.ts';
import { clipLayout, type FrameEncoding, type FrameLayout, layoutBytes } from './frames/index.ts';

/** What is selected of a conversion, and the cover for its tags: JPEG, or empty. */
export interface SelectedSound extends Omit<RenditionQuery, 'route'> {
  /** Absent: it is not known before the conversion is opened. */
  readonly cover?: Buffer | undefined;
}

/** Frames behind a tag or a header. */
interface TaggedFrames {
  readonly layout: FrameLayout;
  readonly tag: Buffer;
}

/** A format that FFmpeg encodes in frames of one size; its row in `core/conversions` has the rest of its facts. */
interface EncodedFormat {
  /**
   * The conversion of a track that can be read from anywhere. Undefined: its length is unknown.
   * @throws InvalidParameter when there is no such part
   */
  layOut(resource: Resource, track: Track, selected: SelectedSound): TaggedFrames | undefined;
  /** A conversion of unknown length. Absent: the format needs a known one. */
  sequence?(resource: Resource, selected: SelectedSound): { readonly encoding: FrameEncoding; readonly tag: Buffer };
}

/**
 * Frames of a group: 144 s. Longer ones cost less (starting an encoder and seeking in the source is as much work
 * as encoding about 10 s), shorter ones take less decoding up to a seek position in their middle.
 */
export const GROUP_FRAMES = 6000;
/** 12 s, 290 kB at 192 kbit/s. */
const UNIT_FRAMES = 500;
/** The longest state of LAME is its loudness adaptation, about 100 frames. */
const LAME_WARM_UP_FRAMES = 200;
const LAME_LOOK_AHEAD_FRAMES = 3;
/** Beyond the safe integers offsets are not exact any more, at the highest bit rate either. */
const MAX_FRAMES = Number.MAX_SAFE_INTEGER / Math.max(...MP3_BITRATES_KBPS.map(mp3FrameBytes));

/** MP3 of constant bit rate without a bit reservoir: frames of one size. */
export const mp3Encoding = (bitrateKbps: Mp3BitrateKbps = MP3_BITRATE_KBPS): FrameEncoding => ({
  sampleRate: MP3_SAMPLE_RATE,
  frameSamples: MP3_SAMPLES_PER_FRAME,
  frameBytes: mp3FrameBytes(bitrateKbps),
  delaySamples: MP3_DELAY_SAMPLES,
  groupFrames: GROUP_FRAMES,
  unitFrames: UNIT_FRAMES,
  warmUpFrames: LAME_WARM_UP_FRAMES,
  lookAheadFrames: LAME_LOOK_AHEAD_FRAMES,
  outputArgs: [
    ...['-c:a', 'libmp3lame', '-b:a', `${bitrateKbps}k`, '-reservoir', '0'],
    ...['-write_xing', '0', '-id3v2_version', '0', '-f', 'mp3'],
  ],
});

const mp3: EncodedFormat = {
  layOut(resource, track, selected) {
    const frames = promisedFrames(resource, track);
    if (frames === undefined) return undefined;
    const layout = clipLayout({ tagBytes: 0, encoding: mp3Encoding(selected.bitrateKbps), frames }, selected.clip);
    const tag = Buffer.concat([tagOf(resource, selected), gaplessFrame(layout, resource, selected)]);
    return { layout: { ...layout, tagBytes: tag.length }, tag };
  },
  sequence: (resource, selected) => ({
    encoding: mp3Encoding(selected.bitrateKbps),
    tag: tagOf(resource, selected),
  }),
};

/** The frame that has players begin and end the sound at the very sample. */
function gaplessFrame(
  { frames, parts }: FrameLayout,
  { durationSeconds = Number.POSITIVE_INFINITY }: Resource,
  { clip, bitrateKbps = MP3_BITRATE_KBPS }: SelectedSound,
): Buffer {
  const kept = clip ? keptParts(clip) : [];
  const samplesOf = (seconds: number, firstFrame = 0) =>
    Math.round(seconds * MP3_SAMPLE_RATE) - firstFrame * MP3_SAMPLES_PER_FRAME;
  const endSeconds = Math.min(kept.at(-1)?.endSeconds ?? durationSeconds, durationSeconds);
  const { firstFrame, frames: lastFrames } = parts?.at(-1) ?? { firstFrame: 0, frames };
  const endSample = samplesOf(endSeconds, firstFrame + lastFrames - frames) + MP3_DELAY_SAMPLES;
  return infoFrame({
    frames,
    bitrateKbps,
    skippedSamples: samplesOf(kept[0]?.startSeconds ?? 0, parts?.[0]?.firstFrame),
    endSample: Math.min(endSample, frames * MP3_SAMPLES_PER_FRAME),
  });
}

function tagOf(resource: Resource, { hasTags, listPlace, clip, cover }: SelectedSound): Buffer {
  if (hasTags) return fullId3Tag(recordingText(resource, listPlace, clip), cover);
  const text = tagText(resource);
  return id3Tag({ ...text, title: listPlace?.chapterTitle ?? text.title });
}

/**
 * As many frames of sound as the size promised at resolve holds, which includes the short tag and the frame of the length;
 * else by the duration. Undefined when that is unknown.
 */
export function promisedFrames(resource: Resource, track: Track): number | undefined {
  const { mp3, renditions, isLive, durationSeconds } = resource;
  const carrier = renditions.find(({ id }) => id === mp3?.renditionId);
  const frames =
    mp3?.sizeBytes !== undefined && carrier?.formatIds[0] === track.formatId
      ? (mp3.sizeBytes - id3Tag(tagText(resource)).length) / MP3_FRAME_BYTES - 1
      : isLive || !durationSeconds
        ? undefined
        : mp3Frames(durationSeconds);
  return frames !== undefined && Number.isInteger(frames) && frames <= MAX_FRAMES ? frames : undefined;
}

const SAMPLE_BYTES = (WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 8;
/** As in MP3: clips of both have the same times. */
const FRAME_SAMPLES = 1152;
const FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES;

/** PCM. Groups of 24 s, 4.6 MB: decoding starts with the group, and takes a hundredth of that time. */
const ENCODING: FrameEncoding = {
  sampleRate: WAV_FORMAT.sampleRate,
  frameSamples: FRAME_SAMPLES,
  frameBytes: FRAME_BYTES,
  delaySamples: 0,
  groupFrames: 1000,
  unitFrames: 100,
  warmUpFrames: 0,
  lookAheadFrames: 0,
  outputArgs: ['-c:a', 'pcm_s16le', '-f', 's16le'],
};

/** Its header has the size: there is no WAV of a source that has to be read from its beginning. */
const wav: EncodedFormat = {
  layOut({ durationSeconds }, _, { clip }) {
    const samples = Math.round((durationSeconds ?? 0) * WAV_FORMAT.sampleRate);
    const dataBytes = samples * SAMPLE_BYTES;
    if (samples === 0 || !Number.isSafeInteger(2 * dataBytes)) return undefined;
    const frames = Math.ceil(dataBytes / FRAME_BYTES);
    const lastFrameBytes = dataBytes - (frames - 1) * FRAME_BYTES;
    const part = clipLayout({ tagBytes: 0, encoding: ENCODING, frames, lastFrameBytes }, clip);
    const header = wavHeader(layoutBytes(part), WAV_FORMAT);
    return { layout: { ...part, tagBytes: header.length }, tag: header };
  },
};

/** Samples by which LAME's output is later than its input. */
const ENCODER_DELAY = 576;
/** Samples by which a decoder of Layer III is later: players take it for granted. */
const DECODER_DELAY = 529;
const MP3_DELAY_SAMPLES = ENCODER_DELAY + DECODER_DELAY;

/** The first two bytes of MPEG-1 Layer III without a checksum (ISO/IEC 11172-3 §2.4.1.3). */
const SYNC = 0xfffb;
/** `bitrate_index` of Layer III. */
const BITRATE_INDEXES: Readonly<Record<Mp3BitrateKbps, number>> = { 128: 9, 192: 11, 256: 13, 320: 14 };
const SAMPLE_RATE_INDEX = 1; // 48 kHz.
/** Joint stereo and `original`, as LAME's frames have them. */
const MODE = 0x44;
/** Behind the header and 32 bytes of side information. */
const INFO_AT = 4 + 32;
/** The fields that follow: frames, bytes, places to seek to, quality. */
const ALL_FIELDS = 0x0f;
const TOC_ENTRIES = 100;
const CONSTANT_BITRATE = 1;
/** Delay and padding have 12 bits each. */
const MAX_PADDING = 0xfff;

interface GaplessLength {
  /** Frames that follow. */
  readonly frames: number;
  readonly bitrateKbps: Mp3BitrateKbps;
  /** Samples of the first frame before the start, besides the delay: less than a frame. */
  readonly skippedSamples: number;
  /** Samples of the frames up to the end, the delay included. */
  readonly endSample: number;
}

/**
 * The frame in front of an MP3 from which players learn how much of its beginning and end is not sound: it decodes to
 * silence, and has fields of Xing and LAME (http://gabriel.mp3-tech.org/mp3infotag.html).
 */
function infoFrame({ frames, bitrateKbps, skippedSamples, endSample }: GaplessLength): Buffer {
  const frame = Buffer.alloc(mp3FrameBytes(bitrateKbps));
  const bytes = (frames + 1) * frame.length;
  const padding = frames * MP3_SAMPLES_PER_FRAME - endSample + DECODER_DELAY;
  frame.writeUInt16BE(SYNC, 0);
  frame.writeUInt8((BITRATE_INDEXES[bitrateKbps] << 4) | (SAMPLE_RATE_INDEX << 2), 2);
  frame.writeUInt8(MODE, 3);
  let at = frame.write('Info', INFO_AT, 'latin1') + INFO_AT;
  at = frame.writeUInt32BE(ALL_FIELDS, at);
  at = frame.writeUInt32BE(Math.min(frames, 0xffff_ffff), at);
  at = frame.writeUInt32BE(Math.min(bytes, 0xffff_ffff), at);
  for (let entry = 0; entry < TOC_ENTRIES; entry += 1) at = frame.writeUInt8((entry * 256) / TOC_ENTRIES, at);
  at += 4; // Quality.
  at += frame.write('LAME3.100', at, 'latin1');
  at = frame.writeUInt8(CONSTANT_BITRATE, at);
  at += 1 + 4 + 2 + 2 + 1; // Low-pass, peak, gains, options.
  at = frame.writeUInt8(Math.min(bitrateKbps, 0xff), at);
  at = frame.writeUIntBE((ENCODER_DELAY + skippedSamples) * 0x1000 + Math.min(padding, MAX_PADDING), at, 3);
  at += 1 + 1 + 2; // Options, gain, preset.
  at = frame.writeUInt32BE(Math.min(bytes, 0xffff_ffff), at);
  at += 2; // Checksum of the music.
  frame.writeUInt16BE(checksum(frame.subarray(0, at)), at);
  return frame;
}

/** CRC-16/ARC. */
function checksum(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}

/** The conversions that FFmpeg encodes. The others copy the bytes of the source. */
export const encodedFormats = { mp3, wav } satisfies { readonly [Name in ConversionName]?: EncodedFormat };

export type EncodedName = keyof typeof encodedFormats;

export const isEncoded = (name: ConversionName): name is EncodedName => Object.hasOwn(encodedFormats, name);
