export { type ClipOptions, layOutClip } from './clip-layout.ts';
export {
  type ClipSource,
  layOutClipSources,
  packMoofs,
  parseFileTracks,
  readFragmentSamples,
  readTableSamples,
  selectFragments,
} from './clip-sources.ts';
export type { ClipLayout } from './clip-window.ts';
