export { readPlaylist } from './hls-playlist.ts';
