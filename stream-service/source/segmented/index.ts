export { openSegments } from './segmented-source.ts';
