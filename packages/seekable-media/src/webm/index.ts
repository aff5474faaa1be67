export { type Block, readBlocks } from './blocks.ts';
export { Children, ID, readElement, readVariable } from './ebml.ts';
export { type NeededCues, readWebmFile, type WebmFile, type WebmParts, type WebmTrack } from './webm-file.ts';
