/** About four months: a larger number is not a duration. */
const MAX_DURATION_SECONDS = 1e7;

/** The value if it is a plausible duration in seconds, above zero; undefined otherwise. */
export const duration = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value < MAX_DURATION_SECONDS ? value : undefined;
