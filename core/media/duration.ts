/** About four months: a larger number is not a duration. */
const MAX_DURATION_SECONDS = 1e7;

/** The value if it is a plausible duration in seconds, above zero; undefined otherwise. */
export const duration = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value < MAX_DURATION_SECONDS ? value : undefined;

/** Below the bitrate of any codec, silence included: FLAC takes 1 kbit/s for it, AAC 2 kbit/s. */
const MIN_BITS_PER_SECOND = 400;
/** Shorter durations are accepted without a check. */
const MAX_UNCHECKED_SECONDS = 60;

/** The duration, unless a file of `sizeBytes` cannot hold as much media: a header or a page may declare anything. */
export const plausibleDuration = (seconds: number | undefined, sizeBytes: number | undefined): number | undefined =>
  seconds === undefined ||
  sizeBytes === undefined ||
  seconds <= MAX_UNCHECKED_SECONDS ||
  (sizeBytes * 8) / seconds >= MIN_BITS_PER_SECOND
    ? seconds
    : undefined;
