export { PlaylistError, parseHlsPlaylist } from './hls-playlist.ts';
export { scanHlsPlaylist } from './hls-scan.ts';
export { isRounded } from './hls-text.ts';
