export {
  type ArrangedSubsegment,
  arrangeSubsegment,
  type FragmentRequest,
  type RunRange,
  readFragmentRuns,
  type SubsegmentRequest,
  weighFragment,
  weighSubsegment,
} from './arrange-subsegment.ts';
export { createLayout, PROGRESSIVE_FILE_TYPE } from './create-layout.ts';
export { extendHeader } from './extend-header.ts';
export {
  type Extent,
  LAYOUT_VERSION,
  type Layout,
  LayoutBuilder,
  type LayoutData,
  packLayout,
  unpackLayout,
} from './layout.ts';
export {
  type FileHeaders,
  type FragmentEntry,
  type FragmentIndex,
  isList,
  type LayoutExtras,
  type LayoutSource,
  listKinds,
  MAX_FRAGMENTS,
  type PackedHeaders,
  type PackedList,
  type PackedSource,
  packSource,
  type SourceIndex,
  textTracks,
  timeFragments,
  unpackHeaders,
  unpackSource,
  weighSource,
} from './layout-source.ts';
export { nameSounds, type SoundName } from './name-sound.ts';
export {
  addMedia,
  bytesOf,
  interleave,
  MAX_CHUNK_BYTES,
  MAX_CHUNK_SECONDS,
  type Placed,
  placeText,
  type SampleChunk,
  sampleToChunk,
} from './sample-chunks.ts';
export { layOutTracks } from './subsegment-layout.ts';
export { fragmentsOfTrack, type SubsegmentFragment, subsegmentsSpan, subsegmentTimes } from './subsegment-table.ts';
export { isClosed } from './track-fragments.ts';
