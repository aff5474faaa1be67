import type { MediaRendition } from '../api/index.ts';
import { codecFacts } from './codecs.ts';
import type { ConversionOffers } from './offers.ts';

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

/** Bytes of the tags that `tags=true` adds to a file. */
const TAG_BYTES = 65_536;
/** Formats that any audio of known duration is encoded to, besides MP3, which is listed. */
const ENCODED = [
  // PCM of 48 kHz, two channels and 16 bit.
  { name: 'wav', mimeType: 'audio/wav', codec: 'PCM', bitrateKbps: 1536 },
] as const;

/** The listed MP3 in each bit rate that the instance offers, highest first. */
export function mp3Sources(listed: MediaRendition, { bitratesKbps, hasTags }: ConversionOffers): ChoiceSource[] {
  const { bitrate, fileSizeBytes, convertTo } = listed;
  if (convertTo !== 'mp3') return [{ rendition: listed }];
  const tagBytes = hasTags ? TAG_BYTES : 0;
  const sizedAs = (factor: number) => fileSizeBytes && Math.round(fileSizeBytes * factor) + tagBytes;
  const usual = { rendition: { ...listed, fileSizeBytes: sizedAs(1) }, hasTags, isSizeEstimate: hasTags };
  if (!bitrate || !bitratesKbps.includes(bitrate)) return [usual];
  return bitratesKbps.map((bitrateKbps) => {
    if (bitrateKbps === bitrate) return usual;
    const figures = {
      label: `${bitrateKbps} kbps`,
      bitrate: bitrateKbps,
      fileSizeBytes: sizedAs(bitrateKbps / bitrate),
    };
    return { rendition: { ...listed, ...figures }, bitrateKbps, hasTags, isSizeEstimate: true };
  });
}

/** AAC of the source in a file of its own, where there is AAC, as far as it is known, and no such file is listed. */
export function m4aSources(audio: readonly MediaRendition[], { formats, hasTags }: ConversionOffers): ChoiceSource[] {
  if (!formats.includes('m4a') || audio.some(({ fileExtension }) => fileExtension === '.m4a')) return [];
  const source = audio.find((rendition) => {
    const { codec } = codecFacts(rendition, 'audio');
    return codec === 'AAC' || (!codec && rendition.fileExtension === '.mp4');
  });
  if (!source) return [];
  return [{ rendition: converted(source, 'm4a', 'audio/mp4'), hasTags, codec: 'AAC' }];
}

/** @param mp3 the listed one: its size says that the duration is known */
export function encodedSources(mp3: MediaRendition | undefined, { formats }: ConversionOffers): ChoiceSource[] {
  const { fileSizeBytes: mp3Bytes, bitrate } = mp3 ?? {};
  if (!mp3 || !mp3Bytes || !bitrate) return [];
  return ENCODED.filter(({ name }) => formats.includes(name)).map(({ name, mimeType, codec, bitrateKbps }) => {
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
