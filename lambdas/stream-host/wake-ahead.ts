import type { Log } from '../../core/log/index.ts';
import type { HttpMiddleware } from '../middleware/index.ts';
import type { Invoker } from '../runtime/index.ts';
import { WAKE_AHEAD, type WakeAheadEvent } from './wake-on-event.ts';

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
  const event: WakeAheadEvent = WAKE_AHEAD;
  let nextWakeAt = 0;
  return {
    after: async ({ response }) => {
      const isResolved = response?.statusCode === 200 || response?.statusCode === 302;
      if (!isResolved || performance.now() < nextWakeAt) return;
      nextWakeAt = performance.now() + MIN_INTERVAL_MS;
      await invoker.invokeAsync(wakeFunction, event, AbortSignal.timeout(INVOKE_TIMEOUT_MS)).catch((error) => {
        nextWakeAt = 0;
        log.warn('Failed to invoke the wake function', { error });
      });
    },
  };
}
