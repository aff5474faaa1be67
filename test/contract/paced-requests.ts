import { setTimeout as delay } from 'node:timers/promises';
import { type ReceivedResponse, type RequestOptions, sendRequest } from '../support/request.ts';

export interface Pace {
  /** Of a private instance; sent as X-Api-Key. */
  readonly accessKey?: string | undefined;
  /** Waiting for Retry-After, all requests together. */
  readonly maxWaitMs: number;
}

/** Below the throttle of the profile `hobby`: ten requests a second, two resolves a second after a burst of ten. */
const REMOTE_INTERVAL_MS = 250;
/** Without a Retry-After, as API Gateway answers its throttle. */
const DEFAULT_RETRY_MS = 2_000;
/** An instance that answers without end is disconnected. */
const MAX_BYTES = 4_000_000;

/**
 * Sends requests to an instance that others use too: slowly, with its access key, and again after Retry-After when it answers
 * 429 or 503.
 * @param baseUrl without a slash at the end
 * @returns requests a path; throws when the connection breaks, and when the instance is still busy after `maxWaitMs`
 */
export function createPacedRequests(baseUrl: string, { accessKey, maxWaitMs }: Pace) {
  const isLoopback = /^(localhost|127\.|\[::1\])/.test(new URL(baseUrl).hostname);
  let nextStart = 0;
  let waitedMs = 0;

  return async (path: string, options: RequestOptions = {}): Promise<ReceivedResponse> => {
    const headers = { ...(accessKey && { 'x-api-key': accessKey }), ...options.headers };
    for (;;) {
      await delay(Math.max(0, nextStart - performance.now()));
      nextStart = performance.now() + (isLoopback ? 0 : REMOTE_INTERVAL_MS);
      const response = await sendRequest(baseUrl + path, { maxBytes: MAX_BYTES, ...options, headers });
      if (response.status !== 429 && response.status !== 503) return response;
      const waitMs = Number(response.headers['retry-after']) * 1_000 || DEFAULT_RETRY_MS;
      if (waitedMs + waitMs > maxWaitMs)
        throw new Error(
          `Still ${response.status} after waiting ${waitedMs / 1_000} s: ${response.body.subarray(0, 200)}`,
        );
      waitedMs += waitMs;
      await delay(waitMs);
    }
  };
}
