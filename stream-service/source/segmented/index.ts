export { loadDash, loadHls } from './load-timeline.ts';
export { openSegments } from './segmented-source.ts';
