export {
  beginsAnew,
  type Cipher,
  durationOf,
  findSegment,
  isSameMedia,
  isSameSection,
  longestGap,
  type Section,
  type Segment,
  segmentAt,
  type Timeline,
  withoutOuterGaps,
} from './timeline.ts';
