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

/** Formats that copy the audio of the source into a file of its own, and the extension of files of unknown codec that have it. */
const COPIED = [
  { name: 'm4a', mimeType: 'audio/mp4', codec: 'AAC', unknownIn: '.mp4' },
  { name: 'opus', mimeType: 'audio/ogg', codec: 'Opus', unknownIn: '' },
] as const;

/** The audio of the source in a file of its own, where its codec is that of the format and no such file is listed. */
export function copiedSources(audio: readonly MediaRendition[]): ChoiceSource[] {
  return COPIED.flatMap(({ name, mimeType, codec: wanted, unknownIn }) => {
    if (audio.some(({ fileExtension }) => fileExtension === `.${name}`)) return [];
    const source = audio.find((rendition) => {
      const { codec } = codecFacts(rendition, 'audio');
      return codec === wanted || (!codec && rendition.fileExtension === unknownIn);
    });
    return source ? [{ rendition: converted(source, name, mimeType), hasTags: true, codec: wanted }] : [];
  });
}

/** @param mp3 the listed one: its size says that the duration is known */
export function encodedSources(mp3: MediaRendition | undefined): ChoiceSource[] {
  const { fileSizeBytes: mp3Bytes, bitrate } = mp3 ?? {};
  if (!mp3 || !mp3Bytes || !bitrate) return [];
  return ENCODED.map(({ name, mimeType, codec, bitrateKbps }) => {
    const fileSizeBytes = Math.round((mp3Bytes * bitrateKbps) / bitrate);
    return { rendition: { ...converted(mp3, name, mimeType), fileSizeBytes }, codec, isSizeEstimate: true };
  });
}

const converted = (source: MediaRendition, convertTo: string, mimeType: string): MediaRendition => ({
  key: source.key,
  label: convertTo.toUpperCase(),
  fileExtension: `.${convertTo}`,
  mimeType,
  urlType: 'Media',
  convertTo,
});
