export {
  inspectSegment,
  MOOF_AHEAD,
  type PlacedSegment,
  placeSegments,
  type SegmentFacts,
  writeWindowHeader,
} from './window-layout.ts';
