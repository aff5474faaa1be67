export type { ListedFilesOptions } from './listed-files.ts';
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
export { createSegmentFiles } from './segment-files.ts';
export { openSegments } from './segmented-source.ts';
