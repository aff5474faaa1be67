export { offsetAfterFirstMinute, segmentAfterFirstMinute } from './first-minute.ts';
export { type MediaSection, RelativeSection } from './media-section.ts';
export {
  durationOf,
  hasDiscontinuity,
  isSameMedia,
  isSameSection,
  longestGapSeconds,
  type ManifestFacts,
  type Segment,
  segmentAt,
  type Timeline,
  trimGaps,
} from './timeline.ts';
export {
  selectWindow,
  type WindowPlace,
  type WindowTime,
  type WindowTimes,
  windowSegments,
  withTimes,
} from './window.ts';
