export { codecString } from './codec-string.ts';
export { addStreams, type HlsLayout, type HlsStream, layOutHls } from './hls-layout.ts';
export { type HlsUris, writeHlsChapters, writeMasterPlaylist, writeMediaPlaylist } from './playlists.ts';
