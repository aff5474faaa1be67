/** Retries and timeouts of AWS clients. Short, since a stream waits for every call. */
export const clientBounds = {
  maxAttempts: 2,
  /** Milliseconds. */
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;
