/** What the first bytes of segments say of them. */
export interface SegmentStart {
  /** Whether the first sound is AAC whose frames each carry a header (ADTS); undefined: it cannot be told. */
  readonly isFramedAac?: boolean | undefined;
  /** Seconds on the clock that its timestamps count on; undefined: they count on none that others share. */
  readonly startSeconds?: number | undefined;
}
