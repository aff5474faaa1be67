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
  arrangeMuxedPlace,
  type FragmentRequest,
  type FramedPlace,
  type MuxedPlaceRequest,
  type RunRange,
  readFragmentRuns,
  weighFragment,
  weighMuxedPlace,
} from './place-frame.ts';
export { isClosed } from './place-source.ts';
export { type PlaceFragment, placeFragments, placesSpan, placeTimes } from './place-table.ts';
export { layOutTracks } from './placed-layout.ts';
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
