export { firstBytes, hasBytes } from './first-bytes.ts';
export { createSourceOpeners } from './open-source.ts';
export type { FileSource, OpenSource, SegmentedSource, Source, TrackSelection } from './source.ts';
export { needsRemux } from './source-kinds.ts';
