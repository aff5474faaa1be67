export {
  createSegmentCheck,
  type SegmentCheck,
  type SegmentCheckOptions,
  type SegmentKind,
} from './segment-check.ts';
