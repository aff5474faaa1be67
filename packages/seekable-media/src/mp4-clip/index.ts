export { type ClipLayout, type ClipOptions, layOutClip } from './clip-layout.ts';
export {
  type ClipSource,
  layOutClipSources,
  type PackedFragments,
  packFragments,
  parseFileTracks,
  readFragmentSamples,
  readTableSamples,
  selectFragments,
  type TrackKind,
} from './clip-sources.ts';
export type { ClipTrack } from './clip-window.ts';
