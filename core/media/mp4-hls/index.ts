export { codecString } from './codec-string.ts';
export { type HlsLayout, type HlsStream, layOutHls, withStreams } from './hls-layout.ts';
export { type HlsUris, writeMasterPlaylist, writeMediaPlaylist } from './playlists.ts';
