import { createLayout } from '../../core/media/virtual-mp4/index.ts';
import { createLayoutCache, type LayoutCache, type LayoutRequest } from './layout-cache.ts';

/** The layouts of pairs: source 0 has the video, source 1 the audio. The request's id is the key of the pair. */
export type Layouts = LayoutCache<LayoutRequest>;

const MAX_MEMORY_BYTES = 64 * 1024 * 1024;

/** @param now epoch milliseconds */
export const createLayouts = (now: () => number = Date.now): Layouts =>
  createLayoutCache({
    now,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    layOut([video, audio]) {
      if (!video || !audio) throw new TypeError('A pair has two files');
      return createLayout(video.header, audio.header);
    },
  });
