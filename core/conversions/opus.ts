import type { Conversion } from './conversion.ts';

/** Opus of the source, copied into Ogg. Not listed: clients of the contract take the last conversion for MP3. */
export const opus: Conversion = {
  label: 'Opus',
  description: 'Copied to Ogg',
  fileExtension: '.opus',
  mimeType: 'audio/ogg',
  bitrateKbps: null,
};
