export { makePlace, makeShortPlace, type PlaceRequest, placeRequest } from './file-layout.ts';
export { FORMAT_NAMES, recognizeFormat, type SegmentFormatName, segmentFormat } from './formats.ts';
export { packTable, unpackTable } from './pack-table.ts';
export {
  type Encoding,
  HEAD_BYTES,
  MAX_PLACE_BYTES,
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
  MAX_PLACES,
  type SegmentTable,
  startSecondsOf,
} from './segment-table.ts';
export { createWebmTable } from './webm-table.ts';
