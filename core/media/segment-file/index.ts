export { recognizeFormat, type SegmentFormatName, segmentFormat } from './formats.ts';
export {
  type Encoding,
  HEAD_BYTES,
  MAX_PLACE_BYTES,
  type MoreBytes,
  presentationOf,
  type SegmentFacts,
  type SegmentFormat,
  type SegmentHead,
  type SegmentRun,
  type SegmentTrack,
  type SegmentTrackKind,
} from './segment-format.ts';
