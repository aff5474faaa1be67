import type { Conversion } from './conversion.ts';

/** AAC of the source, copied into MP4. Not listed: clients of the contract take the last conversion for MP3. */
export const m4a: Conversion = {
  label: 'M4A',
  description: 'Copied to M4A',
  fileExtension: '.m4a',
  mimeType: 'audio/mp4',
  bitrateKbps: null,
};
