export {
  createLiveLists,
  type HeldSegments,
  inspectWindow,
  type LiveLists,
  listLive,
  loadWindow,
  type OpenWindow,
} from './live-lists.ts';
export { loadDash, loadHls } from './load-timeline.ts';
export { createSegmentFiles, type SegmentFilesOptions } from './segment-files.ts';
export { openSegments } from './segmented-source.ts';
