import type { MediaInformation, MediaRendition } from '../api/index.ts';
import type { Choice } from './choice.ts';
import { codecOf } from './codecs.ts';

/** What a choice is made of: a listed rendition, or a conversion of one. */
export type ChoiceSource = Pick<Choice, 'rendition' | 'bitrateKbps' | 'codec'>;

/** kbit/s of MP3, highest first. */
export const MP3_BITRATES_KBPS: readonly number[] = [320, 256, 192, 128];
/** Bytes of the tags that `tags=true` adds to a file. */
const TAG_BYTES = 65_536;
/** Of the audio within a video, where nothing tells it. */
const USUAL_AUDIO_KBPS = 128;
/** PCM of 48 kHz, two channels and 16 bit. */
const WAV_KBPS = 1536;

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

/**
 * The sound of one version of an item: MP3 in each bit rate; the files without a picture; copies of the audio in a file of its own, where
 * its codec is that of the format and no such file is listed; WAV, where the duration is known.
 * @param mp3 the listed one, which tells the duration
 */
export function soundSources(audio: readonly MediaRendition[], mp3: MediaRendition | undefined): ChoiceSource[] {
  const bytesAt = (kbps: number) =>
    mp3?.fileSizeBytes && mp3.bitrate ? Math.round((mp3.fileSizeBytes * kbps) / mp3.bitrate) : undefined;
  const tagged = (bytes: number | null | undefined) => bytes && bytes + TAG_BYTES;
  const rates = mp3?.bitrate && MP3_BITRATES_KBPS.includes(mp3.bitrate) ? MP3_BITRATES_KBPS : [mp3?.bitrate];
  const copies = COPIED.flatMap(({ name, mimeType, codec: wanted, unknownIn }) => {
    const source = audio.find((rendition) => {
      const codec = codecOf(rendition, 'audio');
      return codec === wanted || (!codec && rendition.fileExtension === unknownIn);
    });
    if (!source || audio.some(({ fileExtension }) => fileExtension === `.${name}`)) return [];
    const bytes = isVideo(source) ? bytesAt(USUAL_AUDIO_KBPS) : source.fileSizeBytes;
    return { rendition: converted(source, name, mimeType, tagged(bytes)), codec: wanted };
  });
  const wavBytes = bytesAt(WAV_KBPS);
  return [
    ...(mp3 ? rates : []).map((kbps) => ({
      rendition: {
        ...mp3,
        ...(kbps && { label: `${kbps} kbps`, fileSizeBytes: tagged(bytesAt(kbps)) }),
      } as MediaRendition,
      bitrateKbps: kbps === mp3?.bitrate ? undefined : (kbps ?? undefined),
    })),
    ...audio.flatMap((rendition) => (isVideo(rendition) ? [] : { rendition })),
    ...copies,
    ...(mp3 && wavBytes ? [{ rendition: converted(mp3, 'wav', 'audio/wav', wavBytes), codec: 'PCM' }] : []),
  ];
}

const converted = (
  { key }: MediaRendition,
  convertTo: string,
  mimeType: string,
  fileSizeBytes: number | null | undefined,
): MediaRendition => ({
  key,
  label: convertTo.toUpperCase(),
  fileExtension: `.${convertTo}`,
  mimeType,
  convertTo,
  fileSizeBytes,
});

/** Whether a file has a picture too. */
const isVideo = ({ mimeType }: MediaRendition): boolean => mimeType?.startsWith('video/') === true;

/** Seconds of an item by its MP3, whose bit rate is constant: a list says nothing else of durations. Undefined without it. */
export function secondsOf({ audio }: MediaInformation): number | undefined {
  const { fileSizeBytes, bitrate } = audio?.renditions?.find(({ convertTo }) => convertTo === 'mp3') ?? {};
  return fileSizeBytes && bitrate ? (fileSizeBytes * 8) / (bitrate * 1000) : undefined;
}
