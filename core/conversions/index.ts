export { type Conversion, type FrozenText, type ListPlace, recordingText, tagText } from './conversion.ts';
export { MP3_BITRATE_KBPS, MP3_BITRATES_KBPS, type Mp3BitrateKbps } from './mp3/index.ts';
export { type ConversionName, conversionNames, conversions, findConversionName } from './registry.ts';
