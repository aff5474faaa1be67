export { createLayout, LAYOUT_VERSION } from './create-layout.ts';
export { patchFragment } from './fragment-patch.ts';
export { type FragmentEntry, type FragmentIndex, type LayoutSource, MAX_FRAGMENTS } from './indexed-source.ts';
export type { Extent, Layout, LayoutTrack, SourceIndex } from './layout.ts';
export { type SourceSpan, sourceSpan } from './source-span.ts';
