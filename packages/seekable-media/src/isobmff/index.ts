export {
  BOX_HEADER_BYTES,
  type Box,
  box,
  boxHeader,
  DATA_INFORMATION,
  findLeadingMovie,
  flagsOf,
  fullBox,
  type IndexedBox,
  indexBox,
  indexContent,
  indexMovie,
  integers,
  LARGE_BOX_HEADER_BYTES,
  parseBoxes,
  parseBoxHeader,
  UnsupportedMp4,
  u32,
  u64,
} from './boxes.ts';
export { beginWhenShown, isClosed, longestDelay, moveRun } from './decode-times.ts';
export { patchCreationTime, patchHeaderDuration } from './duration-patch.ts';
export {
  NON_SYNC_SAMPLE_FLAGS,
  type SampleRun,
  SYNC_SAMPLE_FLAGS,
  TFHD,
  writeFileFragment,
} from './fragment-fields.ts';
export {
  type ByteSpan,
  countRunSamples,
  type FragmentSpan,
  type MovieFragment,
  measureFragment,
  parseFragmentSamples,
  totalRuns,
} from './fragment-samples.ts';
export { type FragmentTime, fragmentTimes, renumberFragment, shiftFragment } from './fragment-times.ts';
export {
  counterparts,
  descriptorContent,
  type InitTrack,
  parseInitTracks,
} from './init-segment.ts';
export {
  extendMovie,
  FRAGMENTED_FILE_TYPE,
  type OutputTrack,
  writeFragmentedMovie,
  writeMovie,
} from './movie-header.ts';
export {
  allocateSegment,
  type PackedPlace,
  type PackedRun,
  packPlace,
  packSamples,
  recycle,
  runParts,
  unpackSamples,
  weighPlace,
} from './packed-place.ts';
export {
  framePlace,
  LENGTH_BYTES,
  measurePlace,
  type PlaceRun,
  type PlaceSample,
} from './place.ts';
export {
  countDeclaredSamples,
  parseSampleTable,
  type Sample,
  type SampleCursor,
  type SampleTable,
} from './sample-table.ts';
export {
  findRandomAccessBytes,
  parseRandomAccess,
  parseSegmentIndex,
  type RandomAccessPoint,
  type SegmentIndex,
} from './segment-index.ts';
export { commonTimescale } from './timescale.ts';
export { readTableDuration, type TableDuration } from './track-duration.ts';
export {
  displaySize,
  type Edit,
  hasEncryptedSampleEntry,
  listTrackKinds,
  parseTrackHeader,
  type TrackHeader,
} from './track-header.ts';
