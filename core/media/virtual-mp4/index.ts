export { createLayout, LAYOUT_VERSION } from './create-layout.ts';
export { patchFragment } from './fragment-patch.ts';
export { type FragmentEntry, type FragmentIndex, type LayoutSource, MAX_FRAGMENTS } from './indexed-source.ts';
export { type Extent, firstSequence, type Layout, type LayoutTrack, MAX_MOOFS, type SourceIndex } from './layout.ts';
export { checkSamples, fragmentSamples, type TrackFragment } from './sample-fragments.ts';
export { type SourceSpan, sourceSpan, splitAtMedia } from './source-span.ts';
