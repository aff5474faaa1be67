import type { Conversion } from './conversion.ts';

/** The format of the WAV conversion: what every player and editor reads. */
export const WAV_FORMAT = { sampleRate: 48_000, channels: 2, bitsPerSample: 16 } as const;

/** Samples of each channel. */
export const wavSamples = (durationSeconds: number): number => Math.round(durationSeconds * WAV_FORMAT.sampleRate);

/** PCM. Not listed: clients of the contract take the last conversion for MP3. */
export const wav: Conversion = {
  label: 'WAV',
  description: 'Converted to WAV',
  fileExtension: '.wav',
  mimeType: 'audio/wav',
  bitrateKbps: (WAV_FORMAT.sampleRate * WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 1000,
};
