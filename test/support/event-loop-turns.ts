import { expect } from 'vitest';
import { collectGarbage } from './collected.ts';

/** What no turn of the service's event loop may take, whatever a stranger sends. */
const MAX_TURN_MS = 100;
/**
 * What the service does takes long in each of them; what a busy machine adds to it (page faults, cold caches, a collection of
 * garbage) does not.
 */
const ATTEMPTS = 5;
/** Time between two readings: turns that end within it count together. */
const INTERVAL_MS = 1;

/**
 * Measures the turns of this thread's event loop by the processor time that they use. Unlike the delay that
 * `monitorEventLoopDelay` measures, it does not depend on what else the machine does. It does not include waiting: for
 * synchronous calls that wait, use the delay.
 */
function measureTurns() {
  let longestMs = 0;
  let before = threadCpuMs();
  const read = () => {
    const now = threadCpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  let timer = setTimeout(tick, INTERVAL_MS);
  function tick() {
    read();
    timer = setTimeout(tick, INTERVAL_MS);
  }
  return {
    /** Ends measuring. @returns processor time of the longest turn in milliseconds, a few of which may be of its neighbours */
    stop(): number {
      clearTimeout(timer);
      read();
      return longestMs;
    },
  };
}

/**
 * Expects that no turn of the event loop takes too long while something runs, the turns of a server, source and client in the
 * same process included. Make large inputs before: what making them leaves is collected first, not in a turn that counts.
 * @param work that no earlier attempt makes shorter, for example by what is cached
 */
export async function expectShortTurns<T>(work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    collectGarbage();
    const turns = measureTurns();
    const result = await work(attempt).finally(() => turns.stop());
    const longestMs = turns.stop();
    if (longestMs >= MAX_TURN_MS && attempt < ATTEMPTS) continue;
    expect(longestMs, 'processor time of the longest turn of the event loop, in milliseconds').toBeLessThan(
      MAX_TURN_MS,
    );
    return result;
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
