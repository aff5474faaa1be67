import type { Conversion } from './conversion.ts';
import { mp3 } from './mp3.ts';
import { wav } from './wav.ts';

/** AAC of the source, copied into MP4. Not listed: clients of the contract take the last conversion for MP3. */
const m4a: Conversion = {
  label: 'M4A',
  description: 'Copied to M4A',
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
  bitrateKbps: null,
};

/** Opus of the source, copied into Ogg. Not listed: clients of the contract take the last conversion for MP3. */
const opus: Conversion = {
  label: 'Opus',
  description: 'Copied to Ogg',
  fileExtension: '.opus',
  mimeType: 'audio/ogg',
  bitrateKbps: null,
};

/** FLAC of the source, copied. Not listed: clients of the contract take the last conversion for MP3. */
const flac: Conversion = {
  label: 'FLAC',
  description: 'Copied to FLAC',
  fileExtension: '.flac',
  mimeType: 'audio/flac',
  bitrateKbps: null,
};

/**
 * Every conversion, in the order in which those that are listed are offered. The name is the value of `?format=` and of `convertTo`, and
 * the field under which a stored resource keeps what it promised of it: a published name never changes.
 */
export const conversions = { mp3, m4a, opus, flac, wav } satisfies Readonly<Record<string, Conversion>>;

export type ConversionName = keyof typeof conversions;

export const conversionNames = Object.keys(conversions) as readonly ConversionName[];

/** Finds a conversion by the name in a request, in any case. Undefined for an unknown name. */
export const findConversionName = (name: string | undefined): ConversionName | undefined =>
  conversionNames.find((known) => known === name?.toLowerCase());
