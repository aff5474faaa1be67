export {
  BOX_HEADER_BYTES,
  type Box,
  box,
  boxHeader,
  DATA_INFORMATION,
  findLeadingMovie,
  flagsOf,
  fullBox,
  type HandlerType,
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
export { beginWhenShown, isClosedGop, longestDelay, moveRun } from './decode-times.ts';
export { patchCreationTime, patchHeaderDuration } from './duration-patch.ts';
export {
  NON_SYNC_SAMPLE_FLAGS,
  renumberFragment,
  type SampleRun,
  SYNC_SAMPLE_FLAGS,
  shiftFragment,
  writeFileFragment,
} from './fragment-writer.ts';
export { counterparts, descriptorContent, type InitTrack, parseInitTracks } from './init-segment.ts';
export {
  type ByteSpan,
  countRunSamples,
  type FragmentSpan,
  type FragmentTime,
  fragmentTimes,
  type MovieFragment,
  measureFragment,
  parseFragmentSamples,
  TFHD,
  totalRuns,
} from './movie-fragment.ts';
export {
  commonTimescale,
  extendMovie,
  FRAGMENTED_FILE_TYPE,
  type OutputTrack,
  writeFragmentedMovie,
  writeMovie,
} from './movie-header.ts';
export {
  allocateSegment,
  type FragmentSamples,
  type PackedRun,
  packRuns,
  packSamples,
  recycle,
  runParts,
  unpackSamples,
  weighSamples,
} from './packed-samples.ts';
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
export { LENGTH_BYTES, measureSubsegment, type RunSample, type TrackRun, writeSubsegmentBoxes } from './subsegment.ts';
export { readTableDuration, type TableDuration } from './track-duration.ts';
export {
  displaySize,
  type Edit,
  hasEncryptedSampleEntry,
  listTrackKinds,
  parseTrackHeader,
  type TrackHeader,
} from './track-header.ts';
