import { type ReelayError, failureOf as readFailure, readText } from '../../../clients/reelay-client/src/index.ts';
import { ApiFailure, type FailureFacts, type FailureKind } from './failure.ts';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Which endpoint was requested: the same status means different things. */
export type Endpoint = 'app' | 'resolve' | 'stream';

/** Bounds the body: a wrong address may send an endless one. */
const MAX_BODY_BYTES = 16_000_000;
/** By status. */
const DEFAULT_RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 429: 5, 503: 5 };

/**
 * Sends a request.
 * @throws ApiFailure `offline` or `unreachable`; the signal's reason when it is aborted
 */
export async function fetchResponse(fetch: Fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: 'same-origin', referrerPolicy: 'no-referrer', ...init });
  } catch (error) {
    throw connectionFailure(error, init.signal);
  }
}

/** Maps a failed fetch: an abort stays as it is, a timeout counts as unreachable. */
export function connectionFailure(error: unknown, signal: AbortSignal | null | undefined): unknown {
  const isTimeout = signal?.aborted && signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  if (signal?.aborted && !isTimeout) return signal.reason;
  return new ApiFailure(isOnline() ? 'unreachable' : 'offline', {}, { cause: error });
}

/** False only when the browser reports no connection. */
export const isOnline = (): boolean => globalThis.navigator?.onLine !== false;

/** Reads a JSON object. @throws ApiFailure for an error status or an unexpected body */
export async function readJson(response: Response, asked: Endpoint): Promise<unknown> {
  if (!response.ok) throw await failureOf(response, asked);
  try {
    const value: unknown = JSON.parse(await readText(response, MAX_BODY_BYTES));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw new TypeError('No JSON object');
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new ApiFailure('unreachable', {}, { cause: error });
    throw error;
  }
}

/** Maps an error response to a failure. Reads its body. */
export async function failureOf(response: Response, asked: Endpoint): Promise<ApiFailure> {
  const failure = await readFailure(response);
  const { title, detail, code, retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS[response.status] } = failure;
  const problem = code === 'unexpected-response' ? undefined : code;
  return new ApiFailure(kindOf(failure, asked), { title, detail, problem, retryAfterSeconds });
}

function kindOf({ status, title, code }: ReelayError, asked: Endpoint): FailureKind {
  if (status === 429) return 'too-many';
  if (status === 503) return unavailableKind({ title, problem: code }, asked);
  // The signature of a private instance's link has expired.
  if (status === 403 && asked === 'stream') return 'not-found';
  // A 404 without problem details comes from another server.
  if (status === 404) return title !== undefined && asked !== 'app' ? 'not-found' : 'unreachable';
  if (status === 400 && asked === 'resolve') return 'bad-link';
  return status === 415 ? 'refused' : 'failed';
}

const UNAVAILABLE_KINDS = {
  delayed: 'delayed',
  busy: 'busy',
  starting: 'waking',
  maintenance: 'maintenance',
} as const;

/** What a 503 means. */
function unavailableKind({ title, problem = '' }: FailureFacts, asked: Endpoint): FailureKind {
  if (Object.hasOwn(UNAVAILABLE_KINDS, problem)) return UNAVAILABLE_KINDS[problem as keyof typeof UNAVAILABLE_KINDS];
  // An instance of an earlier version, or what stands in front of it.
  if (asked !== 'stream') return 'maintenance';
  return title === 'No Capacity' ? 'busy' : 'waking';
}
