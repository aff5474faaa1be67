export { type HlsPlaylist, parseHlsPlaylist } from './hls-playlist.ts';
export { scanHlsPlaylist } from './hls-scan.ts';
export { isRounded, PlaylistError } from './hls-text.ts';
