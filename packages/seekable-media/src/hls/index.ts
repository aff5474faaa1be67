export { EncryptedPlaylist, PlaylistError } from './hls-lines.ts';
export {
  type HlsPlaylist,
  type PackedPlaylist,
  readHlsPlaylist,
  scanHlsPlaylist,
  unpackHlsPlaylist,
} from './hls-playlist.ts';
