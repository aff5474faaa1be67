/** Facts from the first bytes of a segment. */
export interface SegmentStart {
  /** Whether the first audio stream is AAC in ADTS frames; undefined when unknown. */
  readonly isFramedAac?: boolean | undefined;
  /** First timestamp, seconds; undefined when the format has no timestamps that other tracks share. */
  readonly startSeconds?: number | undefined;
}
