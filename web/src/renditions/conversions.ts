import {
  audioCopies,
  type ConversionName,
  conversions,
  findConversionName,
  MP3_BITRATES_KBPS,
  type OutputFeatures,
} from '../../../core/conversions/formats/index.ts';
import type { MediaInformation } from '../api/index.ts';
import type { Choice, ChoiceRendition } from './choice.ts';
import { codecOf } from './codecs.ts';

/** What a choice is made of: a listed rendition, or a conversion of one. */
export type ChoiceSource = Pick<Choice, 'rendition' | 'bitrateKbps' | 'codec' | 'isSizeLimit'>;

/** Bytes of the tags that `tags=true` adds to a file. */
const TAG_BYTES = 65_536;
/** Audio within a video, of which nothing is known, hardly ever has more. */
const MAX_USUAL_KBPS = 320;

/** The features of a format. One that a newer service may list is taken to have those of MP3. */
export const featuresOf = (convertTo: string): OutputFeatures => conversions[findConversionName(convertTo) ?? 'mp3'];

/**
 * The sound of one version of an item, as near to its source as possible first: the files without a picture; copies of the audio in a file
 * of its own, where its codec is that of the format and no such file is listed; MP3 in each bit rate up to that of its source; WAV, where
 * the duration and the size of its source are known, without which the service cannot make it.
 * @param mp3 the listed one, which tells the duration
 * @param isForArchive MP3 in the listed bit rate too, which archives have whatever the source has
 */
export function soundSources(
  audio: readonly ChoiceRendition[],
  mp3: ChoiceRendition | undefined,
  isForArchive = false,
): ChoiceSource[] {
  const bytesAt = (kbps: number | null | undefined) =>
    kbps && mp3?.fileSizeBytes && mp3.bitrate ? Math.round((mp3.fileSizeBytes * kbps) / mp3.bitrate) : undefined;
  const tagged = (bytes: number | null | undefined) => bytes && bytes + TAG_BYTES;
  const copies = Object.values(audioCopies).flatMap(({ codec, codecName, container, fileExtension }) => {
    const source = audio.find((rendition) => {
      const known = codecOf(rendition, 'audio');
      // Unknown audio of MP4 is taken for AAC, as the service takes it.
      return known === codecName || (!known && codec === 'aac' && rendition.fileExtension === '.mp4');
    });
    if (!source || audio.some((rendition) => rendition.fileExtension === fileExtension)) return [];
    const { fileSizeBytes: size } = source;
    const isSizeLimit = isVideo(source) || undefined;
    const bytes = size && Math.min(size, (isSizeLimit && bytesAt(MAX_USUAL_KBPS)) || size);
    return { rendition: converted(source, container, tagged(bytes)), codec: codecName, isSizeLimit };
  });
  const source = audio.find(({ key }) => key === mp3?.key);
  const sourceKbps = Math.round((source && !isVideo(source) && source.bitrate) || mp3?.bitrate || 0);
  const rates = MP3_BITRATES_KBPS.toReversed().filter(
    (kbps) => kbps <= sourceKbps || kbps === MP3_BITRATES_KBPS[0] || (isForArchive && kbps === mp3?.bitrate),
  );
  const wavBytes = source?.fileSizeBytes && bytesAt(conversions.wav.bitrateKbps);
  return [
    ...audio.flatMap((rendition) => (isVideo(rendition) ? [] : { rendition })),
    ...copies,
    ...(mp3
      ? rates.map((kbps) => ({
          rendition: { ...mp3, label: `${kbps} kbps`, fileSizeBytes: tagged(bytesAt(kbps)) },
          bitrateKbps: kbps === mp3.bitrate ? undefined : kbps,
        }))
      : []),
    ...(mp3 && wavBytes ? [{ rendition: converted(mp3, 'wav', wavBytes), codec: 'PCM' }] : []),
  ];
}

const converted = (
  { key }: ChoiceRendition,
  convertTo: ConversionName,
  fileSizeBytes: number | null | undefined,
): ChoiceRendition => ({
  key,
  label: convertTo.toUpperCase(),
  fileExtension: conversions[convertTo].fileExtension,
  mimeType: conversions[convertTo].mimeType,
  convertTo,
  fileSizeBytes,
});

/** Whether a file has a picture too. */
const isVideo = ({ mimeType }: ChoiceRendition): boolean => mimeType.startsWith('video/');

/** Seconds of an item by its MP3, whose bit rate is constant: a list says nothing else of durations. Undefined without it. */
export function secondsOf({ audio }: MediaInformation): number | undefined {
  const { fileSizeBytes, bitrate } = audio?.renditions.find(({ convertTo }) => convertTo === 'mp3') ?? {};
  return fileSizeBytes && bitrate ? (fileSizeBytes * 8) / (bitrate * 1000) : undefined;
}
