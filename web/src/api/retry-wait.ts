import {
  createRetries,
  type Retries,
  type RetryOptions,
  withRetries,
} from '../../../clients/reelay-client/src/index.ts';
import type { Api, ResolveOptions, ToolProgress } from './api.ts';
import { ApiFailure, type TemporaryKind } from './failure.ts';
import type { ResolvedLink } from './playlist-counts.ts';
import { connectionFailure, type Fetch, failureOf, fetchResponse } from './responses.ts';

/** Why a request waits, and until when. */
export interface Waiting {
  readonly reason: TemporaryKind;
  /** What the instance does during maintenance, where it says so. */
  readonly progress?: ToolProgress;
  /** Whole seconds until the next attempt. */
  readonly retrySeconds: number;
}

export interface WaitOptions extends Pick<RetryOptions, 'signal' | 'sleep'> {
  /** Called before each wait. */
  readonly onWaiting?: (waiting: Waiting) => void;
  /** Total seconds to wait before the failure is thrown. @default 600 */
  readonly maxWaitSeconds?: number;
  readonly fetch?: Fetch;
}

const MAX_WAIT_SECONDS = 600;
/** Between two polls of an instance that reports bytes. */
const PROGRESS_DELAY_SECONDS = 2;
const STREAM_TIMEOUT_MS = 60_000;

/**
 * Resolves a link. Waits out maintenance by polling `/api/App`, and rate limits for the Retry-After of the response.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export async function resolveWhenAvailable(
  api: Api,
  link: string,
  options: WaitOptions & ResolveOptions = {},
): Promise<ResolvedLink> {
  const retries = createRetries(retryOptions(options));
  for (;;) {
    try {
      return await api.resolve(link, options.signal, options);
    } catch (error) {
      if (isMaintenance(error)) await untilMaintenanceEnds(api, error, retries, options);
      else await retries.next(error);
    }
  }
}

/**
 * Settles once a stream responds to a one-byte range. Media elements do not report why loading failed; this does.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export const untilStreamable = (url: string, options: WaitOptions = {}): Promise<void> =>
  withRetries(() => probeStream(url, options), retryOptions(options));

const isMaintenance = (error: unknown): error is ApiFailure =>
  error instanceof ApiFailure && error.kind === 'maintenance';

const retryOptions = ({ signal, sleep, onWaiting, maxWaitSeconds = MAX_WAIT_SECONDS }: WaitOptions): RetryOptions => ({
  signal,
  sleep,
  maxWaitSeconds,
  onWaiting({ failure, seconds }) {
    const { kind, progress } = failure as ApiFailure;
    onWaiting?.({ reason: kind as TemporaryKind, retrySeconds: Math.ceil(seconds), ...(progress && { progress }) });
  },
});

/** Polls the instance until its maintenance ends and reports its progress. */
async function untilMaintenanceEnds(
  api: Api,
  { title, detail }: ApiFailure,
  retries: Retries,
  { signal }: WaitOptions,
): Promise<void> {
  let current: ToolProgress | undefined;
  for (;;) {
    // Sooner than a new resolve would be: it ends at a moment that nobody can announce.
    const retryAfterSeconds = current && PROGRESS_DELAY_SECONDS;
    await retries.next(new ApiFailure('maintenance', { title, detail, progress: current, retryAfterSeconds }));
    try {
      const { maintenance, progress } = await api.getAppInfo(signal);
      if (!maintenance) return;
      current = progress;
    } catch (error) {
      // An instance that restarts is briefly unreachable: the next resolve decides.
      if (!(error instanceof ApiFailure)) throw error;
    }
  }
}

async function probeStream(url: string, { signal, fetch = globalThis.fetch }: WaitOptions): Promise<void> {
  const ended = new AbortController();
  const signals = [ended.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS), ...(signal ? [signal] : [])];
  const all = AbortSignal.any(signals);
  try {
    const send: Fetch = (to, init) => fetch(to, init);
    const response = await fetchResponse(send, url, {
      headers: { range: 'bytes=0-0' },
      cache: 'no-store',
      signal: all,
    });
    // A stream without ranges sends everything: only its status matters. A link is resolved before it redirects to one.
    if (!response.ok) throw await failureOf(response, isGet(response.url) ? 'resolve' : 'stream');
  } catch (error) {
    throw error instanceof ApiFailure ? error : connectionFailure(error, all);
  } finally {
    ended.abort();
  }
}

const isGet = (url: string): boolean => /\/api\/Get$/i.test(URL.parse(url)?.pathname ?? '');
