import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

interface IdleCollectionOptions {
  /** @default 10000 */
  readonly intervalMs?: number;
  /** Share of the time since the last call in which the event loop was in use, from 0 to 1. */
  readonly utilization?: () => number;
  /** Collects garbage. */
  readonly collect?: () => void;
}

const INTERVAL_MS = 10_000;
/** Collecting 100 MB takes about 100 ms of an interval. */
const MAX_IDLE_UTILIZATION = 0.05;

/**
 * Collects garbage once whenever the process becomes idle. V8 starts a collection by allocations, which an idle process does
 * not make: without this, what large files have left behind stays until the next ones.
 * @returns ends it
 */
export function collectWhenIdle({
  intervalMs = INTERVAL_MS,
  utilization = createUtilization(),
  collect = collectGarbage,
}: IdleCollectionOptions = {}): () => void {
  let hasWorked = false;
  const timer = setInterval(() => {
    if (utilization() > MAX_IDLE_UTILIZATION) {
      hasWorked = true;
    } else if (hasWorked) {
      hasWorked = false;
      collect();
    }
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

function createUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    return utilization;
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // `last-resort` returns pages to the system, too.
  (runInNewContext('gc') as NodeJS.GCFunction)({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
