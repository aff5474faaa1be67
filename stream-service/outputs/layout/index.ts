export { type ClippedDependencies, clipped } from './clipped.ts';
export { copiedAudio } from './copied-audio.ts';
export { extendedFile } from './extended-file.ts';
export { type HlsDependencies, type HlsFile, hls } from './hls.ts';
export type { LaidOutDependencies } from './laid-out.ts';
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
export { createSizeRecorder, type PairDependencies, seekablePair } from './pair.ts';
export { HEADER_RANGE, type KnownLayout, type LayoutReader, type LayoutRequest, type OpenFile } from './read-layout.ts';
