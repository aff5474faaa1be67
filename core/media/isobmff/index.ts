export { type IndexedBox, indexBox, indexContent, indexMovie } from './box-index.ts';
export {
  BOX_HEADER_BYTES,
  type Box,
  type BoxHeader,
  box,
  boxHeader,
  flagsOf,
  fullBox,
  integers,
  LARGE_BOX_HEADER_BYTES,
  parseBoxes,
  parseBoxHeader,
  UnsupportedMp4,
  u32,
  u64,
} from './boxes.ts';
export { patchHeaderDuration } from './duration-patch.ts';
export { extendMovie } from './extend-movie.ts';
export { TFHD } from './fragment-fields.ts';
export {
  extractFragment,
  type FragmentInput,
  type RewrittenFragment,
  rewriteFragment,
  SEQUENCE_NUMBER_AT,
} from './fragment-rewriter.ts';
export { type MovieFragment, parseFragmentSamples } from './fragment-samples.ts';
export { type FragmentTime, fragmentTimes, shiftFragment } from './fragment-times.ts';
export {
  type ByteSpan,
  MDAT_HEADER_BYTES,
  NON_SYNC_SAMPLE_FLAGS,
  SYNC_SAMPLE_FLAGS,
  writeFragment,
} from './fragment-writer.ts';
export { descriptorContent, type InitTrack, initTracks, isSameDescription } from './init-segment.ts';
export {
  FRAGMENTED_FILE_TYPE,
  type OutputTrack,
  writeFragmentedMovie,
  writeMovie,
  writeMovieHeader,
} from './movie-header.ts';
export {
  declaredSamples,
  hasEncryptedSampleEntry,
  parseSampleTable,
  type Sample,
  type SampleCursor,
  type SampleTable,
} from './sample-table.ts';
export { parseSegmentIndex, type SegmentIndex, type SegmentIndexEntry } from './segment-index.ts';
export { readTableDuration, type TableDuration } from './track-duration.ts';
export { type Edit, listTrackKinds, parseTrackHeader, type TrackHeader } from './track-header.ts';
