export {
  createPlacement,
  inspectSegment,
  MOOF_AHEAD,
  type Placement,
  type SegmentFacts,
  writeWindowHeader,
} from './window-layout.ts';
