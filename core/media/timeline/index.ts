export type { ManifestFacts } from './manifest-facts.ts';
export type { Cipher, MediaSection } from './media-section.ts';
export { RelativeSection } from './relative-section.ts';
export {
  durationOf,
  findSegment,
  hasDiscontinuity,
  isSameMedia,
  isSameSection,
  longestGapSeconds,
  type Segment,
  segmentAt,
  type Timeline,
  trimGaps,
} from './timeline.ts';
