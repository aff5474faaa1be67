import { createSemaphore, type Deadline, deadlineSignal, type Semaphore } from '../../concurrency/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../errors/index.ts';

export interface ResolveLimitsOptions {
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
 * its requests then waits for its own ones. Further calls have no effect.
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

interface Client {
  readonly slots: Semaphore;
  /** Slots held and waited for. */
  links: number;
}

export function createResolveLimits(options: ResolveLimitsOptions): ResolveLimits {
  const { maxRunningPerClient, maxWaitingPerClient, maxWaiting, abortedSlotMs = ABORTED_SLOT_MS } = options;
  const clients = new Map<string, Client>();
  let waiting = 0;

  const enter = (name: string): Client => {
    const client = clients.get(name) ?? { slots: createSemaphore({ permits: maxRunningPerClient }), links: 0 };
    client.links += 1;
    clients.set(name, client);
    return client;
  };
  const leave = (name: string, client: Client) => {
    client.links -= 1;
    if (client.links === 0) clients.delete(name);
  };
  const withLeave = (name: string, client: Client, release: () => void): Release => {
    let isReleased = false;
    const end = () => {
      release();
      leave(name, client);
    };
    return (isAborted = false) => {
      if (isReleased) return;
      isReleased = true;
      if (isAborted) setTimeout(end, abortedSlotMs).unref();
      else end();
    };
  };

  return {
    tryAcquire(name) {
      const client = enter(name);
      const release = client.slots.tryAcquire();
      if (release) return withLeave(name, client, release);
      leave(name, client);
      return undefined;
    },
    async acquire(name, deadline) {
      const ahead = clients.get(name)?.slots.waiting() ?? 0;
      if (ahead >= maxWaitingPerClient)
        throw new ClientLimitExceeded('Too many links of this client wait', RETRY_SECONDS);
      if (waiting >= maxWaiting) throw new CapacityExceeded('Too many links wait', RETRY_SECONDS);
      const client = enter(name);
      waiting += 1;
      try {
        return withLeave(name, client, await client.slots.acquire(deadlineSignal(deadline)));
      } catch (error) {
        leave(name, client);
        throw error;
      } finally {
        waiting -= 1;
      }
    },
  };
}
