import type { ByteSpan } from '../../../core/media/isobmff/index.ts';

/** Samples of one track that are sent together, as one `moof` and one `mdat`. */
export interface TrackFragment {
  /** Decode time of the first sample. */
  readonly startSeconds: number;
  /** Where the samples are in the source, in decode order. */
  readonly ranges: readonly ByteSpan[];
  /** The `moof` with this sequence number, and the header of its `mdat`. */
  readonly header: (sequence: number) => Buffer;
}

/** The fragments of one track, in order; undefined after the last one. */
export type NextFragment = () => Promise<TrackFragment | undefined>;
