export { codecString } from './codec-string.ts';
export { writeDashManifest } from './dash-manifest.ts';
export { type HlsLayout, type HlsStream, layOutHls } from './hls-layout.ts';
export {
  type ListedStream,
  type ListedText,
  mapToStream,
  writeHlsChapters,
  writeMasterPlaylist,
  writeMediaPlaylist,
  writeTextPlaylist,
} from './playlists.ts';
