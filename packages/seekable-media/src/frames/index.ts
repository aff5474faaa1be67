export { type AudioFrame, type ReadFrame, readAc3, readAdts, readMpegAudio } from './audio-frames.ts';
export {
  createSegmentCheck,
  type SegmentCheck,
  type SegmentCheckOptions,
  type SegmentKind,
} from './segment-check.ts';
