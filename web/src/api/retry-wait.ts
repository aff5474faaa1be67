import type { Api } from './api.ts';
import type { ResourceInformation } from './contract.ts';
import { ApiFailure } from './failure.ts';
import { connectionFailure, type Fetch, failureOf, fetchResponse } from './responses.ts';

/** Why nothing happens just now, and for how long. */
export interface Waiting {
  readonly reason: 'maintenance' | 'waking' | 'busy' | 'too-many' | 'offline' | 'unreachable';
  /** What the instance says it is doing, in its own English words. */
  readonly activity?: string;
  /** Until the next try, whole seconds. */
  readonly retrySeconds: number;
}

export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Called at each wait. */
  readonly onWaiting?: (waiting: Waiting) => void;
  /** How long to wait in all before the failure is thrown after all. @default 600 */
  readonly maxWaitSeconds?: number;
  readonly fetch?: Fetch;
  /** Waits; throws the signal's reason. */
  readonly sleep?: Sleep;
}

const MAX_WAIT_SECONDS = 600;
/** Seconds between two looks at an instance in maintenance: soon at first, seldom in the end. */
const POLL_DELAYS_SECONDS = [1, 2, 3, 5, 10, 15];
const STREAM_TIMEOUT_MS = 60_000;

/** Settles after a time. @throws the signal's reason when that aborts first */
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
 * Resolves a link, and waits where waiting helps: maintenance until `/api/App` says it is over, too many requests for
 * as long as the instance says.
 * @throws ApiFailure what waiting does not mend, or the last one when the patience is over
 */
export async function resolveWhenAvailable(
  api: Api,
  link: string,
  options: WaitOptions = {},
): Promise<ResourceInformation> {
  const patience = createWaitBudget(options);
  for (;;) {
    try {
      return await api.resolve(link, options.signal);
    } catch (error) {
      const failure = asRetryable(error);
      if (failure.kind === 'maintenance') await untilMaintenanceEnds(api, failure, patience, options);
      else await patience.wait(failure, failure.retryAfterSeconds);
    }
  }
}

/**
 * Settles once a stream answers: for a player that failed, which does not say why. Asks for a single byte.
 * @throws ApiFailure why it does not stream, when waiting does not mend it
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

/** Looks at the instance until its maintenance is over, saying each time what it does. */
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
      // An instance that restarts is away for a moment: the resolve that follows has the last word.
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
    // A muxed stream answers whole whatever is asked: its head is all that is wanted.
    if (!response.ok) throw await failureOf(response, 'stream');
  } catch (error) {
    throw error instanceof ApiFailure ? error : connectionFailure(error, all);
  } finally {
    ended.abort();
  }
}

interface WaitBudget {
  /** @throws the failure when it is over */
  wait(failure: ApiFailure, seconds?: number): Promise<void>;
  /** The same for as long as is right before the next look, over all looks. */
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

/** What is said of a failure that is waited out. */
export const waitingOf = ({ kind, title }: ApiFailure, retrySeconds: number): Waiting => ({
  reason: isReason(kind) ? kind : 'unreachable',
  retrySeconds,
  ...(title !== undefined && { activity: title }),
});

const isReason = (kind: string): kind is Waiting['reason'] =>
  ['maintenance', 'waking', 'busy', 'too-many', 'offline', 'unreachable'].includes(kind);

/** A failure that waiting mends. @throws any other */
function asRetryable(error: unknown): ApiFailure {
  if (error instanceof ApiFailure && isRetryable(error)) return error;
  throw error;
}

/** The instance says when to come again. */
export const isRetryable = ({ kind }: ApiFailure): boolean =>
  kind === 'maintenance' || kind === 'waking' || kind === 'busy' || kind === 'too-many';
