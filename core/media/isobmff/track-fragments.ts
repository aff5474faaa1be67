/** Bytes of a source. */
export interface SourceRange {
  readonly first: number;
  readonly bytes: number;
}

/** Samples of one track that go out together: one `moof` and one `mdat`. */
export interface TrackFragment {
  /** When its first sample is decoded. */
  readonly startSeconds: number;
  /** Of the samples, in the order of decoding. */
  readonly ranges: readonly SourceRange[];
  /** The `moof` with this number and the header of the `mdat` behind it. */
  readonly head: (sequence: number) => Buffer;
}

/** The runs of one track, in order; undefined: that was all. */
export type NextFragment = () => Promise<TrackFragment | undefined>;
