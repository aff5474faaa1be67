import type { Api, ResolveOptions, ToolProgress } from './api.ts';
import { ApiFailure } from './failure.ts';
import type { ResolvedLink } from './playlist-counts.ts';
import { connectionFailure, type Fetch, failureOf, fetchResponse } from './responses.ts';

/** Why a request waits, and until when. */
export interface Waiting {
  readonly reason: (typeof REASONS)[number];
  /** What the instance does during maintenance, where it says so. */
  readonly progress?: ToolProgress;
  /** Whole seconds until the next attempt. */
  readonly retrySeconds: number;
}

/** Failures that come with a Retry-After. */
const REASONS = ['maintenance', 'waking', 'delayed', 'busy', 'too-many'] as const;

type RetryableFailure = ApiFailure & { readonly kind: Waiting['reason'] };

export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Called before each wait. */
  readonly onWaiting?: (waiting: Waiting) => void;
  /** Total seconds to wait before the failure is thrown. @default 600 */
  readonly maxWaitSeconds?: number;
  readonly fetch?: Fetch;
  /** Rejects with the signal's reason. */
  readonly sleep?: Sleep;
}

const MAX_WAIT_SECONDS = 600;
/** Seconds between two polls of an instance in maintenance; the last one repeats. */
const POLL_DELAYS_SECONDS = [1, 2, 3, 5, 10, 15];
/** The same while it reports bytes. */
const PROGRESS_DELAY_SECONDS = 2;
const STREAM_TIMEOUT_MS = 60_000;

/** Settles after a delay. @throws the signal's reason when it aborts first */
export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const wake = () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });

/**
 * Resolves a link. Waits out maintenance by polling `/api/App`, and rate limits for the Retry-After of the response.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export async function resolveWhenAvailable(
  api: Api,
  link: string,
  options: WaitOptions & ResolveOptions = {},
): Promise<ResolvedLink> {
  const patience = createWaitBudget(options);
  for (;;) {
    try {
      return await api.resolve(link, options.signal, options);
    } catch (error) {
      const failure = asRetryable(error);
      if (failure.kind === 'maintenance') await untilMaintenanceEnds(api, failure, patience, options);
      else await patience.wait(failure, failure.retryAfterSeconds);
    }
  }
}

/**
 * Settles once a stream responds to a one-byte range. Media elements do not report why loading failed; this does.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export async function untilStreamable(url: string, options: WaitOptions = {}): Promise<void> {
  const patience = createWaitBudget(options);
  for (;;) {
    try {
      return await probeStream(url, options);
    } catch (error) {
      const failure = asRetryable(error);
      await patience.wait(failure, failure.retryAfterSeconds);
    }
  }
}

/** Polls the instance until its maintenance ends and reports its progress. */
async function untilMaintenanceEnds(
  api: Api,
  failure: RetryableFailure,
  patience: WaitBudget,
  { signal }: WaitOptions,
): Promise<void> {
  let current: ToolProgress | undefined;
  for (;;) {
    await patience.poll(failure, current);
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

interface WaitBudget {
  /** @throws the failure when the budget is used up */
  wait(failure: RetryableFailure, seconds?: number): Promise<void>;
  /** Waits for the next poll interval. */
  poll(failure: RetryableFailure, progress?: ToolProgress): Promise<void>;
}

function createWaitBudget({
  signal,
  onWaiting,
  maxWaitSeconds: patienceSeconds = MAX_WAIT_SECONDS,
  sleep: rest = sleep,
}: WaitOptions): WaitBudget {
  let left = patienceSeconds;
  let looks = 0;
  const wait = async (failure: RetryableFailure, seconds = 5, progress?: ToolProgress) => {
    if (seconds > left) throw failure;
    left -= seconds;
    onWaiting?.({ reason: failure.kind, retrySeconds: seconds, ...(progress && { progress }) });
    await rest(seconds * 1000, signal);
  };
  return {
    wait,
    poll(failure, progress) {
      const delay = POLL_DELAYS_SECONDS[Math.min(looks++, POLL_DELAYS_SECONDS.length - 1)];
      return wait(failure, progress ? PROGRESS_DELAY_SECONDS : delay, progress);
    },
  };
}

/** Narrows to a temporary failure. @throws any other error */
function asRetryable(error: unknown): RetryableFailure {
  if (error instanceof ApiFailure && REASONS.some((reason) => reason === error.kind)) return error as RetryableFailure;
  throw error;
}
