export { type ClipTimes, endOrInfinity, isWhole, keptParts, type Span } from './kept-parts.ts';
export {
  InvalidSegments,
  mergeSpans,
  parseSegments,
  SEGMENT_CATEGORIES,
  type Segment,
  type SegmentCategory,
  selectSegments,
} from './segments.ts';
