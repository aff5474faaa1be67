export { createLayout, LAYOUT_VERSION } from './create-layout.ts';
export { extendHeader } from './extend-header.ts';
export { type FragmentPatch, patchFragment } from './fragment-patch.ts';
export { fragmentedTrack } from './fragmented-layout.ts';
export type { FragmentedTrack, OutputFragment } from './fragmented-track.ts';
export {
  type FragmentEntry,
  type FragmentIndex,
  type LayoutExtras,
  type LayoutSource,
  MAX_FRAGMENTS,
  timeFragments,
} from './indexed-source.ts';
export {
  type Extent,
  firstSequence,
  type Layout,
  LayoutBuilder,
  type LayoutData,
  type LayoutTrack,
  layoutData,
  layoutOf,
  layoutTrack,
  MAX_MOOFS,
  type SourceIndex,
} from './layout.ts';
export { type PackedSource, packSource, sourceWeight, unpackSource } from './packed-source.ts';
export { PROGRESSIVE_FILE_TYPE } from './progressive-layout.ts';
export { type SampleChunk, sampleToChunk } from './sample-chunks.ts';
