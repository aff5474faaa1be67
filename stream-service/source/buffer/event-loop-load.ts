import { performance } from 'node:perf_hooks';

/** What a reader knows of the process that it runs in. */
export interface EventLoopLoad {
  /** Milliseconds, from any beginning. */
  now(): number;
  /** The process has hardly rested lately: then it is itself what clients wait for, and no source. */
  isBusy(): boolean;
}

/** Part of the time in which the event loop was at work, above which it is busy. */
const BUSY = 0.9;
/** Milliseconds that one look holds for. */
const LOOK = 250;

/** The gauge of a process: one for all its streams. */
export function createEventLoopLoad(): EventLoopLoad {
  const now = () => performance.now();
  let before = performance.eventLoopUtilization();
  let lookedAt = now();
  let isBusy = false;
  return {
    now,
    isBusy() {
      if (now() - lookedAt >= LOOK) {
        isBusy = performance.eventLoopUtilization(before).utilization > BUSY;
        before = performance.eventLoopUtilization();
        lookedAt = now();
      }
      return isBusy;
    },
  };
}
