export { createLiveLists, type HeldSegments, type LiveLists, listLive } from './live-lists.ts';
export { loadDash, loadHls } from './load-timeline.ts';
export { createSegmentFiles, type SegmentFilesOptions } from './segment-files.ts';
export { openSegments } from './segmented-source.ts';
export { inspectWindow, type OpenWindow, openWindow, type WindowFacts } from './window-file.ts';
