export { firstBytes, hasBytes } from './first-bytes.ts';
export { createSourceOpeners, isMp4File, needsRemux, openTrack } from './open-source.ts';
export type { FileSource, OpenSource, SegmentedSource, Source, TrackSelection } from './source.ts';
