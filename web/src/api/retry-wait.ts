import { createClient, type RetryOptions, withRetries } from '../../../clients/reelay-client/src/index.ts';
import type { Api, ResolvedLink, ResolveOptions } from './api.ts';
import { ApiFailure, type TemporaryKind, type ToolProgress, toApiFailure } from './failure.ts';

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
}

const MAX_WAIT_SECONDS = 600;
/** Between two polls of an instance that reports bytes. */
const PROGRESS_DELAY_SECONDS = 2;
const STREAM_TIMEOUT_MS = 60_000;

/**
 * Resolves a link. Waits out maintenance by polling `/api/App`, and rate limits for the Retry-After of the response.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export function resolveWhenAvailable(
  api: Api,
  link: string,
  options: WaitOptions & ResolveOptions = {},
): Promise<ResolvedLink> {
  const { signal } = options;
  let isMaintained = false;
  return withRetries(async () => {
    // An instance that restarts is briefly unreachable: its maintenance has not ended.
    const stillMaintained = (error: unknown) => {
      throw error instanceof ApiFailure ? new ApiFailure('maintenance') : error;
    };
    const app = isMaintained ? await api.getAppInfo(signal).catch(stillMaintained) : undefined;
    if (app?.maintenance) {
      const { progress } = app;
      throw new ApiFailure('maintenance', { progress, retryAfterSeconds: progress && PROGRESS_DELAY_SECONDS });
    }
    return api.resolve(link, signal, options).catch((error) => {
      isMaintained = error instanceof ApiFailure && error.kind === 'maintenance';
      // Asked sooner than Retry-After says: it ends at a moment that nobody can announce.
      throw isMaintained ? new ApiFailure('maintenance') : error;
    });
  }, retryOptions(options));
}

/**
 * Returns where a URL has led once it responds to a one-byte range. Media elements do not report why loading failed; this does.
 * @throws ApiFailure a permanent one at once, a temporary one after `maxWaitSeconds`
 */
export const untilStreamable = (url: string, options: WaitOptions = {}): Promise<string> =>
  withRetries(() => probeStream(url, options), retryOptions(options));

const retryOptions = ({ signal, sleep, onWaiting, maxWaitSeconds = MAX_WAIT_SECONDS }: WaitOptions): RetryOptions => ({
  signal,
  sleep,
  maxWaitSeconds,
  onWaiting({ failure, seconds }) {
    const { kind, progress } = failure as ApiFailure;
    onWaiting?.({ reason: kind as TemporaryKind, retrySeconds: Math.ceil(seconds), ...(progress && { progress }) });
  },
});

async function probeStream(url: string, { signal }: WaitOptions): Promise<string> {
  const ended = new AbortController();
  const signals = [ended.signal, AbortSignal.timeout(STREAM_TIMEOUT_MS), ...(signal ? [signal] : [])];
  try {
    // A stream without ranges sends everything: only its status matters.
    const init: RequestInit = { headers: { range: 'bytes=0-0' }, cache: 'no-store', signal: AbortSignal.any(signals) };
    return (await createClient({ instance: url }).send(url, init)).url;
  } catch (error) {
    throw toApiFailure(error);
  } finally {
    ended.abort();
  }
}
