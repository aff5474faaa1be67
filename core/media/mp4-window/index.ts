export {
  createPlacement,
  inspectSegment,
  MOOF_AHEAD,
  type Placement,
  type SegmentFacts,
  shownTimes,
  writeWindowHeader,
} from './window-layout.ts';
