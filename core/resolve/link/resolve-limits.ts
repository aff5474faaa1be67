import { createSemaphore, type Deadline, deadlineSignal, type Permit } from '@reelay/concurrency';
import { CapacityExceeded, ClientLimitExceeded } from '../../errors/index.ts';

interface ResolveLimitsOptions {
  /** Links of one client that are resolved at once. */
  readonly maxRunningPerClient: number;
  /** Links of one client that wait for those. */
  readonly maxWaitingPerClient: number;
  /** Links of all clients that wait. */
  readonly maxWaiting: number;
  /** Milliseconds for which an aborted link keeps its slot. @default 1000 */
  readonly abortedSlotMs?: number;
}

/**
 * Releases a slot: later when the link was aborted, since most of the cost of a resolve is its start. A client that resets
 * its requests then waits for its own ones.
 */
export type Release = (isAborted?: boolean) => void;

/** Limits on links resolved at once, per client, so that one client's links delay only its own. */
export interface ResolveLimits {
  /** A slot if one is free now. */
  tryAcquire(client: string): Release | undefined;
  /**
   * Waits for a slot.
   * @throws ClientLimitExceeded when too many links of the client wait, CapacityExceeded when too many wait in all;
   *   TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  acquire(client: string, deadline: Deadline): Promise<Release>;
}

/** Retry-After for a client at its limit: one of its links has to finish first, which takes seconds. */
const RETRY_SECONDS = 5;
const ABORTED_SLOT_MS = 1_000;

export function createResolveLimits(options: ResolveLimitsOptions): ResolveLimits {
  const { maxRunningPerClient, maxWaitingPerClient, maxWaiting, abortedSlotMs = ABORTED_SLOT_MS } = options;
  const slots = createSemaphore({ maxPerClient: maxRunningPerClient });
  const releaseOf =
    ({ release }: Permit): Release =>
    (isAborted = false) => {
      if (isAborted) setTimeout(release, abortedSlotMs).unref();
      else release();
    };

  return {
    tryAcquire(client) {
      const permit = slots.tryAcquire(client);
      return permit && releaseOf(permit);
    },
    async acquire(client, deadline) {
      if (slots.waiting(client) >= maxWaitingPerClient)
        throw new ClientLimitExceeded('Too many links of this client wait', RETRY_SECONDS);
      if (slots.waiting() >= maxWaiting) throw new CapacityExceeded('Too many links wait', RETRY_SECONDS);
      return releaseOf(await slots.acquire(client, deadlineSignal(deadline)));
    },
  };
}
