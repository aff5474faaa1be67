export { clipFragments } from './clip-fragments.ts';
export { type ClipLayout, type ClipOptions, layOutClip } from './clip-layout.ts';
export type { ClipTimes, ClipTrack } from './clip-window.ts';
export { fragmentedClipTrack, parseFileTracks, sampledClipTrack, type TrackKind } from './file-tracks.ts';
export { type ClipSource, layOutClipSources, type PackedFragments, packFragments } from './packed-clip.ts';
