export {
  type AudioSample,
  audioEntry,
  FRAME_HEADER_BYTES,
  MIN_FRAME_BYTES,
  packedCodec,
  readSample,
} from './audio-codec.ts';
export { h264 } from './h264.ts';
export { hevc } from './hevc.ts';
export { splitUnits, startsUnit } from './nal-units.ts';
export { type ParameterSets, readParameterSets } from './parameter-sets.ts';
export { type VideoCodec, videoEntry } from './video-codec.ts';
