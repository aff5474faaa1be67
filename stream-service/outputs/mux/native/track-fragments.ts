import type { TrackFragment } from '../../../../core/media/virtual-mp4/index.ts';

export type { TrackFragment };

/** The fragments of one track, in order; undefined after the last one. */
export type NextFragment = () => Promise<TrackFragment | undefined>;
