/** What the text of an HLS playlist or a DASH manifest says about its presentation, without reading any media. */
export interface ManifestFacts {
  /** Seconds; undefined for a live presentation, or when the manifest does not say. */
  readonly durationSeconds?: number;
  /** The durations of segments are whole seconds: their sum is not to be relied on. */
  readonly isRounded?: true;
  /** URI of the first segment, as written. */
  readonly segment?: string;
  /** URI of the initialization section, as written. */
  readonly initialization?: string;
  /** URI of the key, as written. */
  readonly key?: string;
  /** AES-128 initialization vector of the first segment, 16 bytes; absent: not encrypted, or by another method. */
  readonly iv?: Buffer;
}
