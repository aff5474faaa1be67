import { operationsById } from '../../core/api/index.ts';
import type { HostEvent } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Event, HttpMiddleware } from '../middleware/index.ts';
import type { Invoker } from '../runtime/index.ts';

interface WakeAheadOptions {
  readonly wakeFunction: string;
  readonly invoker: Pick<Invoker, 'invokeAsync'>;
  readonly log: Log;
}

const [FEED_PATH, MCP_PATH] = [operationsById.Feed, operationsById.Mcp].map(({ path }) => path.toLowerCase());

/** Whether no stream follows: clients read a feed every hour, and greet by MCP at each of their starts. */
function isIdle({ rawPath, body = '' }: Event): boolean {
  const path = rawPath.toLowerCase();
  return path === FEED_PATH || (path === MCP_PATH && !body.includes('"tools/call"'));
}

const WAKE_AHEAD: HostEvent = { kind: 'ahead' };

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
    after: async ({ event, response }) => {
      const isResolved = response?.statusCode === 200 || response?.statusCode === 302;
      if (!isResolved || isIdle(event) || performance.now() < nextWakeAt) return;
      nextWakeAt = performance.now() + MIN_INTERVAL_MS;
      await invoker.invokeAsync(wakeFunction, WAKE_AHEAD, AbortSignal.timeout(INVOKE_TIMEOUT_MS)).catch((error) => {
        nextWakeAt = 0;
        log.warn('Failed to invoke the wake function', { error });
      });
    },
  };
}
