import type { Api, ResolveOptions } from './api.ts';
import { ApiFailure } from './failure.ts';
import type { ResolvedLink } from './playlist-counts.ts';
import { connectionFailure, type Fetch, failureOf, fetchResponse } from './responses.ts';

/** Why a request waits, and until when. */
export interface Waiting {
  /** `interrupted`: the connection was lost; `failed`: the source failed. */
  readonly reason: (typeof REASONS)[number];
  /** The maintenance activity the instance reports, in English. */
  readonly activity?: string;
  /** Whole seconds until the next attempt. */
  readonly retrySeconds: number;
}

const REASONS = [
  'maintenance',
  'waking',
  'delayed',
  'busy',
  'too-many',
  'offline',
  'unreachable',
  'interrupted',
  'failed',
] as const;

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

/** Polls the instance until its maintenance ends and reports each activity. */
async function untilMaintenanceEnds(
  api: Api,
  failure: ApiFailure,
  patience: WaitBudget,
  { signal }: WaitOptions,
): Promise<void> {
  let current = failure;
  for (;;) {
    await patience.poll(current);
    try {
      const { maintenance } = await api.getAppInfo(signal);
      if (!maintenance) return;
      current = new ApiFailure('maintenance', { ...failure, title: maintenance });
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
    // A combined stream ignores Range and sends everything: only its status matters.
    if (!response.ok) throw await failureOf(response, 'stream');
  } catch (error) {
    throw error instanceof ApiFailure ? error : connectionFailure(error, all);
  } finally {
    ended.abort();
  }
}

interface WaitBudget {
  /** @throws the failure when the budget is used up */
  wait(failure: ApiFailure, seconds?: number): Promise<void>;
  /** Waits for the next poll interval. */
  poll(failure: ApiFailure): Promise<void>;
}

function createWaitBudget({
  signal,
  onWaiting,
  maxWaitSeconds: patienceSeconds = MAX_WAIT_SECONDS,
  sleep: rest = sleep,
}: WaitOptions): WaitBudget {
  let left = patienceSeconds;
  let looks = 0;
  const wait = async (failure: ApiFailure, seconds = 5) => {
    if (seconds > left) throw failure;
    left -= seconds;
    onWaiting?.(waitingOf(failure, seconds));
    await rest(seconds * 1000, signal);
  };
  return {
    wait,
    poll: (failure) => wait(failure, POLL_DELAYS_SECONDS[Math.min(looks++, POLL_DELAYS_SECONDS.length - 1)]),
  };
}

/** Describes the wait for a temporary failure. */
export const waitingOf = ({ kind, title }: ApiFailure, retrySeconds: number): Waiting => ({
  reason: isReason(kind) ? kind : 'unreachable',
  retrySeconds,
  activity: title,
});

const isReason = (kind: string): kind is Waiting['reason'] => REASONS.some((reason) => reason === kind);

/** Narrows to a temporary failure. @throws any other error */
function asRetryable(error: unknown): ApiFailure {
  if (error instanceof ApiFailure && isRetryable(error)) return error;
  throw error;
}

/** Whether the failure comes with a Retry-After. */
export const isRetryable = ({ kind }: ApiFailure): boolean =>
  kind === 'maintenance' || kind === 'waking' || kind === 'delayed' || kind === 'busy' || kind === 'too-many';
