export { PlaylistError, isRounded } from './hls-text.ts';
export { type HlsPlaylist, parseHlsPlaylist } from './hls-playlist.ts';
export { scanHlsPlaylist } from './hls-scan.ts';
