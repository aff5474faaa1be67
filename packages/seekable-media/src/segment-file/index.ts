export {
  type FileLayout,
  layOutFile,
  makePlace,
  makeShortPlace,
  type PlaceRequest,
  placeRequest,
  startSecondsOf,
  weighPlace,
} from './file-layout.ts';
export { FORMAT_NAMES, recognizeFormat, type SegmentFormatName, segmentFormat } from './formats.ts';
export { packTable, unpackTable } from './pack-table.ts';
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
export {
  audioTable,
  createTable,
  type ListedSegment,
  MAX_PLACES,
  type SegmentTable,
  type TablePlace,
} from './segment-table.ts';
export { createWebmTable } from './webm-table.ts';
