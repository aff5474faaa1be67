export {
  type HlsPlaylist,
  type PackedPlaylist,
  readHlsPlaylist,
  unpackHlsPlaylist,
} from './hls-playlist.ts';
export { scanHlsPlaylist } from './hls-scan.ts';
export { EncryptedPlaylist, PlaylistError } from './hls-text.ts';
