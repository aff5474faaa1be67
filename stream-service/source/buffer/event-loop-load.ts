import { performance } from 'node:perf_hooks';

/** Load of this process, to tell a slow source from a process that is itself the bottleneck. */
export interface EventLoopLoad {
  /** Milliseconds on a monotonic clock. */
  now(): number;
  /** Whether the event loop has been almost permanently busy of late. */
  isBusy(): boolean;
}

/** Event loop utilization above which the process is the bottleneck. */
const BUSY_UTILIZATION = 0.9;
/** Milliseconds between two measurements. */
const WINDOW_MS = 250;

/** Measures the event loop of this process. One instance serves all streams. */
export function createEventLoopLoad(): EventLoopLoad {
  const now = () => performance.now();
  let before = performance.eventLoopUtilization();
  let measuredAt = now();
  let isBusy = false;
  return {
    now,
    isBusy() {
      if (now() - measuredAt >= WINDOW_MS) {
        isBusy = performance.eventLoopUtilization(before).utilization > BUSY_UTILIZATION;
        before = performance.eventLoopUtilization();
        measuredAt = now();
      }
      return isBusy;
    },
  };
}
