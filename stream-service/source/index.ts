export { generatedStream } from './generated-stream.ts';
export { memorySource, readWhole } from './memory.ts';
export {
  createSourceOpeners,
  type FindFile,
  isMp4File,
  type ListSegments,
  needsRemux,
  openTrack,
} from './open-source.ts';
export { firstBytes, hasBytes } from './read-ahead-stream.ts';
export type { HeldSegments, OpenWindow } from './segmented/index.ts';
export type { FileSource, OpenSource, SegmentedSource, Source, TrackSelection } from './source.ts';
