import { id3Tag, type TagText } from '@reelay/seekable-media/id3';
import type { Conversion } from './conversion.ts';

/**
 * The format of the MP3 conversion, shared by resolving, which promises the size, and streaming, which delivers it: an
 * ID3v2 tag, a frame that tells players its length, then frames of sound. 48 kHz, constant bit rate, no bit reservoir: every frame has the same size.
 */
export const MP3_SAMPLE_RATE = 48_000;
/** Bit rates of MPEG-1 Layer III that a client may choose, kbit/s. */
export const MP3_BITRATES_KBPS = [128, 192, 256, 320] as const;
export type Mp3BitrateKbps = (typeof MP3_BITRATES_KBPS)[number];
/** Without a choice, and the one that GetResource lists. */
export const MP3_BITRATE_KBPS = 192 satisfies Mp3BitrateKbps;
/** MPEG-1 Layer III (ISO/IEC 11172-3 §2.4.2.1). */
export const MP3_SAMPLES_PER_FRAME = 1152;

/** Bytes of a frame: 24 ms. Whole at these bit rates, so that no frame is padded. */
export const mp3FrameBytes = (bitrateKbps: Mp3BitrateKbps): number =>
  (bitrateKbps * 1000 * MP3_SAMPLES_PER_FRAME) / MP3_SAMPLE_RATE / 8;
/** At the default bit rate: 576. */
export const MP3_FRAME_BYTES = mp3FrameBytes(MP3_BITRATE_KBPS);

/** Frames of sound of a conversion: LAME adds one for its delay. A rounding error of the seconds must not cost a frame. */
export const mp3Frames = (durationSeconds: number): number =>
  Math.ceil(Math.round(durationSeconds * MP3_SAMPLE_RATE) / MP3_SAMPLES_PER_FRAME) + 1;

/** Bytes of the whole conversion, tag included. Undefined beyond `Number.MAX_SAFE_INTEGER`. */
export function mp3SizeBytes(
  durationSeconds: number,
  text: TagText,
  bitrateKbps: Mp3BitrateKbps = MP3_BITRATE_KBPS,
): number | undefined {
  const size = id3Tag(text).length + (1 + mp3Frames(durationSeconds)) * mp3FrameBytes(bitrateKbps);
  return Number.isSafeInteger(size) ? size : undefined;
}

/** MP3 of 192 kbit/s, for players that read nothing else. Not offered where the best audio is sent as such a file. */
export const mp3: Conversion = {
  label: `${MP3_BITRATE_KBPS} kbps`,
  description: 'Converted to MP3',
  fileExtension: '.mp3',
  mimeType: 'audio/mpeg',
  bitrateKbps: MP3_BITRATE_KBPS,
  isOffered: ({ fileExtension }) => fileExtension !== '.mp3',
  sizeBytes: mp3SizeBytes,
};
