import type { Log } from '../../core/log/index.ts';
import type { HttpMiddleware } from '../middleware/index.ts';
import type { Invoker } from '../runtime/index.ts';
import { HostUnavailable } from './stream-tasks.ts';
import type { WakeHost } from './wake-host.ts';
import type { WakePlan } from './wake-plan.ts';

/** Sent by the functions that expect a stream soon: keys have just been issued, or a deployed host is outdated. */
export interface WakeAheadEvent {
  readonly kind: 'ahead';
}

export const WAKE_AHEAD: WakeAheadEvent = { kind: 'ahead' };

export interface WakeAheadOptions {
  readonly wakeFunction: string;
  readonly invoker: Pick<Invoker, 'invokeAsync'>;
  readonly log: Log;
}

/** A task takes about this long to start: further wake-ups meanwhile would change nothing. */
const MIN_INTERVAL_MS = 30_000;
/** Delay that a response accepts for the wake-up. */
const INVOKE_TIMEOUT_MS = 2_000;

/**
 * Wakes the stream host after each successful resolve and each redirect to a stream, since a stream usually follows. A failure
 * is only logged.
 */
export function wakeAhead({ wakeFunction, invoker, log }: WakeAheadOptions): HttpMiddleware {
  let nextWakeAt = 0;
  return {
    after: async ({ response }) => {
      const isResolved = response?.statusCode === 200 || response?.statusCode === 302;
      if (!isResolved || performance.now() < nextWakeAt) return;
      nextWakeAt = performance.now() + MIN_INTERVAL_MS;
      await invoker.invokeAsync(wakeFunction, WAKE_AHEAD, AbortSignal.timeout(INVOKE_TIMEOUT_MS)).catch((error) => {
        nextWakeAt = 0;
        log.warn('Failed to invoke the wake function', { error });
      });
    },
  };
}

export interface WakeOnEventOptions {
  readonly wakeHost: WakeHost;
  readonly log: Log;
}

/**
 * Starts a stream host ahead of the first stream, where none runs.
 * @throws Error when AWS fails for another reason than a passing lack of capacity: the stream would wake the host itself
 */
export const createWakeOnEvent =
  ({ wakeHost, log }: WakeOnEventOptions) =>
  async (_event: WakeAheadEvent): Promise<{ readonly woken: WakePlan['kind'] | 'refused' }> => {
    try {
      return { woken: (await wakeHost()).kind };
    } catch (error) {
      if (!(error instanceof HostUnavailable)) throw error;
      log.warn('Stream host unavailable', { error });
      return { woken: 'refused' };
    }
  };
