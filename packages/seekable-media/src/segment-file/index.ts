export { FORMAT_NAMES, recognizeFormat, type SegmentFormatName, segmentFormat } from './formats.ts';
export { packTable, unpackTable } from './pack-table.ts';
export { readSegmentSamples, readShortSegment, type SegmentRequest, segmentRequest } from './read-segment.ts';
export {
  type Encoding,
  HEAD_BYTES,
  MAX_SUBSEGMENT_BYTES,
  type MoreBytes,
  presentationOf,
  type SegmentFacts,
  type SegmentHead,
} from './segment-format.ts';
export {
  audioTable,
  createTable,
  entriesOf,
  kindsOf,
  type ListedSegment,
  MAX_SUBSEGMENTS,
  type SegmentTable,
  startSecondsOf,
} from './segment-table.ts';
export { createWebmTable } from './webm-table.ts';
