export { codecString } from './codec-string.ts';
export { writeDashManifest } from './dash-manifest.ts';
export { type HlsLayout, type HlsStream, layOutHls } from './hls-layout.ts';
export { type ListedStream, writeHlsChapters, writeMasterPlaylist, writeMediaPlaylist } from './playlists.ts';
