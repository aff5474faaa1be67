/** Four months, in seconds: more is no duration. */
const LONGEST = 1e7;

/** A duration in seconds, above zero; undefined for anything else. */
export const duration = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value < LONGEST ? value : undefined;
