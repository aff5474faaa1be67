export { PlaylistError } from './hls-limits.ts';
export { type HlsPlaylist, parseHlsPlaylist } from './hls-playlist.ts';
export { scanHlsPlaylist } from './hls-scan.ts';
export { isRounded } from './hls-text.ts';
