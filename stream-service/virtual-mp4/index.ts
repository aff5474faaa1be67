export { type ClipRequest, type Clips, createClips, NotAac, createHlsLayouts, type HlsLayouts, createLayouts, type Layouts } from './layouts.ts';
export { createLayoutCache, type KnownLayout, type LayoutCache, type LayoutRequest, type OpenFile } from './layout-cache.ts';
export { firstRead, LayoutStream, type SizedFile } from './layout-stream.ts';
export { HEADER_RANGE } from './read-layout-source.ts';
