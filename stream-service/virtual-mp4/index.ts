export { createLayoutCache, type LayoutCache } from './layout-cache.ts';
export { firstRead, LayoutStream, type SizedFile } from './layout-stream.ts';
export {
  type ClipRequest,
  type Clips,
  createClips,
  createHlsLayouts,
  createLayouts,
  type HlsLayouts,
  type Layouts,
  NotAac,
} from './layouts.ts';
export { HEADER_RANGE, type KnownLayout, type LayoutReader, type LayoutRequest, type OpenFile } from './read-layout.ts';
