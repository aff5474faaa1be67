export type { ManifestFacts } from './manifest-facts.ts';
export {
  type Cipher,
  durationOf,
  findSegment,
  hasDiscontinuity,
  isSameMedia,
  isSameSection,
  longestGapSeconds,
  type MediaSection,
  type Segment,
  segmentAt,
  type Timeline,
  trimGaps,
} from './timeline.ts';
