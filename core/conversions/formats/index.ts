/**
 * The table of the formats that the audio of any rendition can be sent as: the values of `?format=`, one row each. `core`, the stream
 * service and the page read it, so it imports nothing. How a format is written is in records of the same names: `encodedFormats` (stream
 * service) of those that FFmpeg encodes, `opus-layout` (seekable-media) of packets in Ogg.
 */

/** What an output can hold, and where it can be cut. */
export interface OutputFeatures {
  /** As messages name it. */
  readonly name: string;
  /** `tags`: chapters among them. `parts`: what is left when segments between them are skipped. */
  readonly holds: readonly ('live' | 'languages' | 'text' | 'parts' | 'tags')[];
  /** Where clips can start: at the packets of MP4 files, at the frames that any file is encoded to, or nowhere. */
  readonly cuts: 'none' | 'packets' | 'frames';
}

export interface Conversion extends OutputFeatures {
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** kbit/s; `null` when it depends on the source. */
  readonly bitrateKbps: number | null;
  /**
   * How GetResource lists it, unless the best audio is such a file. Absent: it is never listed, because clients of the contract take the
   * last conversion for MP3.
   */
  readonly listedAs?: { readonly label: string; readonly description: string };
}

type CopyName = 'm4a' | 'opus';

/** A format that has the packets of the source. */
export interface AudioCopy extends Conversion {
  readonly codec: 'aac' | 'opus';
  /** The codec, as messages and the page name it. */
  readonly codecName: string;
  /** FFmpeg's name of the container, which is that of the format. */
  readonly container: CopyName;
  /** Of source files that are sent as they are. */
  readonly extensions: RegExp;
}

/** Bit rates of MPEG-1 Layer III that a client may choose, kbit/s. */
export const MP3_BITRATES_KBPS = [128, 192, 256, 320] as const;
export type Mp3BitrateKbps = (typeof MP3_BITRATES_KBPS)[number];
/** Without a choice, and the one that GetResource lists. */
export const MP3_BITRATE_KBPS = 192 satisfies Mp3BitrateKbps;

/** PCM that every player and editor reads. */
export const WAV_FORMAT = { sampleRate: 48_000, channels: 2, bitsPerSample: 16 } as const;

/** Formats that copy the packets of the source into a file of their own. */
export const audioCopies: Readonly<Record<CopyName, AudioCopy>> = {
  m4a: {
    name: 'M4A',
    fileExtension: '.m4a',
    mimeType: 'audio/mp4',
    bitrateKbps: null,
    holds: ['parts', 'tags'],
    cuts: 'packets',
    codec: 'aac',
    codecName: 'AAC',
    container: 'm4a',
    extensions: /^m4a$/i,
  },
  opus: {
    name: 'Ogg',
    fileExtension: '.opus',
    mimeType: 'audio/ogg',
    bitrateKbps: null,
    holds: ['tags'],
    cuts: 'packets',
    codec: 'opus',
    codecName: 'Opus',
    container: 'opus',
    extensions: /^(ogg|oga|opus)$/i,
  },
};

/**
 * Every format, in the order in which those that are listed are offered. The name is the value of `?format=` and of `convertTo`, and the
 * field under which a stored resource keeps what it promised of it: a published name never changes.
 */
export const conversions: Readonly<Record<'mp3' | CopyName | 'wav', Conversion>> = {
  mp3: {
    name: 'MP3',
    fileExtension: '.mp3',
    mimeType: 'audio/mpeg',
    bitrateKbps: MP3_BITRATE_KBPS,
    listedAs: { label: `${MP3_BITRATE_KBPS} kbps`, description: 'Converted to MP3' },
    holds: ['live', 'parts', 'tags'],
    cuts: 'frames',
  },
  ...audioCopies,
  wav: {
    name: 'WAV',
    fileExtension: '.wav',
    mimeType: 'audio/wav',
    bitrateKbps: (WAV_FORMAT.sampleRate * WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 1000,
    holds: ['parts'],
    cuts: 'frames',
  },
};

export type ConversionName = keyof typeof conversions;

export const conversionNames = Object.keys(conversions) as readonly ConversionName[];

/** Finds a conversion by the name in a request, in any case. Undefined for an unknown name. */
export const findConversionName = (name: string | undefined): ConversionName | undefined =>
  conversionNames.find((known) => known === name?.toLowerCase());
