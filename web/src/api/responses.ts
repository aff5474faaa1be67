import { ApiFailure, type FailureFacts, type FailureKind } from './failure.ts';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Which endpoint was requested: the same status means different things. */
export type Endpoint = 'app' | 'resolve' | 'stream';

/** Bounds the body: a wrong address may send an endless one. */
const MAX_BODY_CHARACTERS = 8_000_000;
/** Bounds of Retry-After: a premiere may be announced weeks before. */
const MAX_RETRY_AFTER_SECONDS = 30 * 86_400;
const DEFAULT_RETRY_AFTER_SECONDS = 5;

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
    const value: unknown = JSON.parse(await readText(response));
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
  const { status, headers } = response;
  const problem = await readProblem(response);
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'));
  const facts: FailureFacts = {
    ...problem,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  if (status === 429) return new ApiFailure('too-many', { retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS, ...facts });
  if (status === 503) {
    return new ApiFailure(unavailableKind(problem, asked), {
      retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS,
      ...facts,
    });
  }
  // The signature of a private instance's link has expired.
  if (status === 403 && asked === 'stream') return new ApiFailure('not-found', facts);
  // A 404 without problem details comes from another server.
  if (status === 404) return new ApiFailure(problem && asked !== 'app' ? 'not-found' : 'unreachable', facts);
  if (status === 400 && asked === 'resolve') return new ApiFailure('bad-link', facts);
  if (status === 415) return new ApiFailure('refused', facts);
  return new ApiFailure('failed', facts);
}

const UNAVAILABLE_KINDS = {
  delayed: 'delayed',
  busy: 'busy',
  starting: 'waking',
  maintenance: 'maintenance',
} as const;

/** What a 503 means. */
function unavailableKind({ title, problem = '' }: FailureFacts = {}, asked: Endpoint): FailureKind {
  if (Object.hasOwn(UNAVAILABLE_KINDS, problem)) return UNAVAILABLE_KINDS[problem as keyof typeof UNAVAILABLE_KINDS];
  // An instance of an earlier version, or what stands in front of it.
  if (asked !== 'stream') return 'maintenance';
  return title === 'No Capacity' ? 'busy' : 'waking';
}

/** Seconds of a Retry-After (RFC 9110 §10.2.3), a number or a date, at most 30 days. */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS) : undefined;
}

async function readProblem(
  response: Response,
): Promise<Pick<FailureFacts, 'title' | 'detail' | 'problem'> | undefined> {
  try {
    const value: unknown = JSON.parse(await readText(response));
    if (typeof value !== 'object' || value === null || !('title' in value)) return undefined;
    const { type, title, detail } = value as { type?: unknown; title?: unknown; detail?: unknown };
    const [, name] = /^\/problems\/([a-z-]+)$/.exec(String(type)) ?? [];
    return {
      ...(typeof title === 'string' && { title }),
      ...(typeof detail === 'string' && { detail }),
      ...(name && { problem: name }),
    };
  } catch {
    // The status is enough.
    return undefined;
  }
}

/** @throws TypeError when the body exceeds MAX_BODY_CHARACTERS */
async function readText(response: Response): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > MAX_BODY_CHARACTERS) {
      await reader.cancel();
      throw new TypeError('Too much text');
    }
  }
}
