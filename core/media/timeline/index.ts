export {
  type Cipher,
  durationOf,
  findSegment,
  isDiscontinuity,
  isSameMedia,
  isSameSection,
  longestGap,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
  withoutOuterGaps,
} from './timeline.ts';
