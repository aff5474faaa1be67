import type { MediaRendition } from '../api/index.ts';
import { codecFacts } from './codecs.ts';

/** What a choice is made of: a listed rendition, or a conversion of one. */
export interface ChoiceSource {
  readonly rendition: MediaRendition;
  /** Bitrate of an MP3, where it differs from the listed one. */
  readonly bitrateKbps?: number;
  readonly hasTags?: boolean;
  /** Known without a description. */
  readonly codec?: string;
  readonly isSizeEstimate?: boolean;
}

/** kbit/s of MP3, highest first. */
export const MP3_BITRATES_KBPS: readonly number[] = [320, 256, 192, 128];
/** Bytes of the tags that `tags=true` adds to a file. */
const TAG_BYTES = 65_536;
/** Of the audio within a video, where nothing tells it. */
const USUAL_AUDIO_KBPS = 128;
/** Formats that any audio of known duration is encoded to, besides MP3, which is listed. */
const ENCODED = [
  // PCM of 48 kHz, two channels and 16 bit.
  { name: 'wav', mimeType: 'audio/wav', codec: 'PCM', bitrateKbps: 1536 },
] as const;

/** The listed MP3 in each bit rate, highest first. */
export function mp3Sources(listed: MediaRendition): ChoiceSource[] {
  const { bitrate, fileSizeBytes, convertTo } = listed;
  if (convertTo !== 'mp3') return [{ rendition: listed }];
  const sizedAs = (factor: number) => fileSizeBytes && Math.round(fileSizeBytes * factor) + TAG_BYTES;
  const usual = { rendition: { ...listed, fileSizeBytes: sizedAs(1) }, hasTags: true, isSizeEstimate: true };
  if (!bitrate || !MP3_BITRATES_KBPS.includes(bitrate)) return [usual];
  return MP3_BITRATES_KBPS.map((bitrateKbps) => {
    if (bitrateKbps === bitrate) return usual;
    const figures = {
      label: `${bitrateKbps} kbps`,
      bitrate: bitrateKbps,
      fileSizeBytes: sizedAs(bitrateKbps / bitrate),
    };
    return { rendition: { ...listed, ...figures }, bitrateKbps, hasTags: true, isSizeEstimate: true };
  });
}

/**
 * Formats that copy the audio of the source into a file of its own, the extension of files of unknown codec that have it, and how the
 * service cuts them.
 */
const COPIED = [
  { name: 'm4a', mimeType: 'audio/mp4', codec: 'AAC', unknownIn: '.mp4', cuts: 'parts' },
  { name: 'opus', mimeType: 'audio/ogg', codec: 'Opus', unknownIn: '', cuts: 'one' },
  { name: 'flac', mimeType: 'audio/flac', codec: 'FLAC', unknownIn: '', cuts: 'none' },
] as const;

/** Whether the service sends one part of a conversion, what is left between several, or the whole alone. */
export const cutsOf = (convertTo: string): 'parts' | 'one' | 'none' =>
  COPIED.find(({ name }) => name === convertTo)?.cuts ?? 'parts';

/** Whether a file has a picture too. */
export const isVideo = ({ mimeType }: MediaRendition): boolean => mimeType?.startsWith('video/') === true;

/**
 * The audio of the source in a file of its own, where its codec is that of the format and no such file is listed.
 * @param mp3 the listed one, which tells the duration
 */
export function copiedSources(audio: readonly MediaRendition[], mp3: MediaRendition | undefined): ChoiceSource[] {
  return COPIED.flatMap(({ name, mimeType, codec: wanted, unknownIn }) => {
    if (audio.some(({ fileExtension }) => fileExtension === `.${name}`)) return [];
    const source = audio.find((rendition) => {
      const { codec } = codecFacts(rendition, 'audio');
      return codec === wanted || (!codec && rendition.fileExtension === unknownIn);
    });
    if (!source) return [];
    const sizeBytes = isVideo(source) ? bytesAt(USUAL_AUDIO_KBPS, mp3) : source.fileSizeBytes;
    const fileSizeBytes = sizeBytes && sizeBytes + TAG_BYTES;
    const rendition = { ...converted(source, name, mimeType), fileSizeBytes };
    return [{ rendition, hasTags: true, codec: wanted, isSizeEstimate: true }];
  });
}

/** @param mp3 the listed one: its size says that the duration is known */
export function encodedSources(mp3: MediaRendition | undefined): ChoiceSource[] {
  return ENCODED.flatMap(({ name, mimeType, codec, bitrateKbps }) => {
    const fileSizeBytes = bytesAt(bitrateKbps, mp3);
    if (!mp3 || !fileSizeBytes) return [];
    return { rendition: { ...converted(mp3, name, mimeType), fileSizeBytes }, codec, isSizeEstimate: true };
  });
}

/** Bytes of the item at a bit rate, by its MP3, whose bit rate is constant. Undefined while its duration is not known. */
const bytesAt = (kbps: number, { fileSizeBytes, bitrate }: Partial<MediaRendition> = {}): number | undefined =>
  fileSizeBytes && bitrate ? Math.round((fileSizeBytes * kbps) / bitrate) : undefined;

const converted = (source: MediaRendition, convertTo: string, mimeType: string): MediaRendition => ({
  key: source.key,
  label: convertTo.toUpperCase(),
  fileExtension: `.${convertTo}`,
  mimeType,
  urlType: 'Media',
  convertTo,
});
