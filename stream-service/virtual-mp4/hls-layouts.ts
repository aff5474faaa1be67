import { listTrackKinds, UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import { type HlsLayout, layOutHls } from '../../core/media/mp4-hls/index.ts';
import { createLayoutCache, type LayoutCache, type LayoutRequest, type OpenFile } from './layout-cache.ts';

/** What the playlists of renditions refer to: of pairs (source 0 has the video, source 1 the audio) and of single files. */
export type HlsLayouts = LayoutCache<LayoutRequest, HlsLayout>;

const MAX_MEMORY_BYTES = 32 * 1024 * 1024;

export const createHlsLayouts = (): HlsLayouts =>
  createLayoutCache({ maxMemoryBytes: MAX_MEMORY_BYTES, layOut: layOutFiles });

function layOutFiles(files: readonly OpenFile[]): HlsLayout {
  const headers = files.map(({ header }) => header);
  if (headers.length > 1) return layOutHls(headers, ['vide', 'soun']);
  const present = headers.flatMap(({ moov }) => listTrackKinds(moov));
  const kinds = (['vide', 'soun'] as const).filter((kind) => present.includes(kind));
  if (kinds.length === 0) throw new UnsupportedMp4('Neither video nor audio');
  return layOutHls(headers, kinds);
}
