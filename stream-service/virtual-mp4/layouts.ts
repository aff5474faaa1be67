import { createLayout, type LayoutExtras } from '../../core/media/virtual-mp4/index.ts';
import { createLayoutCache, type LayoutCache, type LayoutRequest } from './layout-cache.ts';

/** A pair: source 0 has the video, source 1 the audio. The id begins with its key. */
export interface PairRequest extends LayoutRequest {
  readonly extras?: LayoutExtras;
}

/** The layouts of pairs. */
export type Layouts = LayoutCache<PairRequest>;

const MAX_MEMORY_BYTES = 64 * 1024 * 1024;

/** @param now epoch milliseconds */
export const createLayouts = (now: () => number = Date.now): Layouts =>
  createLayoutCache({
    now,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    layOut([video, audio], { extras }) {
      if (!video || !audio) throw new TypeError('A pair has two files');
      return createLayout(video.header, audio.header, extras);
    },
  });
