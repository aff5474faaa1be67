export { type FrozenText, type ListPlace, recordingText, tagText } from './conversion.ts';
export {
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  type Mp3BitrateKbps,
  mp3FrameBytes,
  mp3Frames,
  mp3SizeBytes,
} from './mp3.ts';
export { type ConversionName, conversionNames, conversions, findConversionName } from './registry.ts';
export { WAV_FORMAT, wavSamples } from './wav.ts';
