import { createRateLimit } from './rate-limit.ts';

/** Limits how many callers do something at once. */
export interface Semaphore {
  /**
   * Waits for a permit, first come, first served.
   * @returns releases the permit; further calls have no effect
   * @throws Error after `maxWaitMs`; the signal's reason once it is aborted
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** A permit if one is free now. */
  tryAcquire(): (() => void) | undefined;
  /** Callers that wait for a permit. */
  waiting(): number;
}

export interface SemaphoreOptions {
  readonly permits: number;
  /** Milliseconds a caller waits for a permit. @default no limit */
  readonly maxWaitMs?: number;
}

export function createSemaphore({ permits, maxWaitMs }: SemaphoreOptions): Semaphore {
  /** In order of arrival. */
  const queue = new Set<() => void>();
  let held = 0;

  const createRelease = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = queue;
      // The permit passes to the next caller without being free in between, so that no newcomer overtakes it.
      if (next) next();
      else held -= 1;
    };
  };

  const enqueue = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        queue.delete(onPermit);
      };
      const onPermit = () => {
        end();
        resolve();
      };
      const onAbort = () => {
        end();
        reject(signal?.reason);
      };
      const onTimeout = () => {
        end();
        reject(new Error(`No permit within ${maxWaitMs} ms`));
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(onTimeout, maxWaitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.add(onPermit);
    });

  const tryAcquire = () => {
    if (held >= permits) return undefined;
    held += 1;
    return createRelease();
  };

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const release = tryAcquire();
      if (release) return release;
      await enqueue(signal);
      return createRelease();
    },
    tryAcquire,
    waiting: () => queue.size,
  };
}

/** Permits that a tenant had do not count below this rate: one that releases each soon, by requests that it resets, has many. */
const RECENT = { perSecond: 2, burst: 20, maxDebt: 20 };

/** The right to use one of a few slots, until it is released. */
export interface Permit {
  /** Further permits that the tenant held or waited for when this one was granted, or had had of late. */
  readonly rank: number;
  /** Aborted when tenants with fewer permits wait for it: release it, and acquire another. */
  readonly revoked: AbortSignal;
  release(): void;
}

/** A semaphore whose permits are shared evenly between tenants. */
export interface FairSemaphore {
  /** Waits for a permit. @throws the signal's reason once it is aborted */
  acquire(tenant: string, signal: AbortSignal): Promise<Permit>;
  /** Callers that wait for a permit: those of a tenant, or all. */
  waiting(tenant?: string): number;
}

export interface FairSemaphoreOptions {
  readonly permits: number;
  /** Permits that one tenant may hold: the rest are free at once for the next tenant. @default `permits` */
  readonly maxPerTenant?: number;
  /** Milliseconds a tenant waits before a permit of a tenant that holds more than half is revoked. @default never */
  readonly revokeAfterMs?: number;
}

interface Held {
  readonly tenant: string;
  readonly revocation: AbortController;
}

/**
 * Grants permits round-robin by tenant. A tenant alone may hold `maxPerTenant` of them; while others wait it is granted no
 * more than half (at least one), and permits beyond that are revoked, newest first, since that loses the least work.
 */
export function createFairSemaphore({
  permits,
  maxPerTenant = permits,
  revokeAfterMs,
}: FairSemaphoreOptions): FairSemaphore {
  const fairShare = Math.max(1, Math.floor(permits / 2));
  /** Waiting callers by tenant; the tenant whose turn is next comes first. */
  const queues = new Map<string, ((permit: Permit) => void)[]>();
  /** Oldest first. */
  const held = new Set<Held>();
  const heldBy = (tenant: string) => [...held].filter((one) => one.tenant === tenant && !one.revocation.signal.aborted);
  /** Revoked permits count until they are released. */
  const countOf = (tenant: string) => [...held].filter((one) => one.tenant === tenant).length;
  const isBelowShare = (tenant: string) => heldBy(tenant).length < fairShare;

  const recent = createRateLimit(RECENT);

  const grant = (tenant: string): Permit => {
    const one: Held = { tenant, revocation: new AbortController() };
    const recentExcess = Math.ceil((recent.take(tenant) * RECENT.perSecond) / 1000);
    const rank = countOf(tenant) + (queues.get(tenant)?.length ?? 0) + recentExcess;
    held.add(one);
    return {
      rank,
      revoked: one.revocation.signal,
      release: () => {
        held.delete(one);
        grantNext();
      },
    };
  };

  const grantNext = () => {
    while (held.size < permits) {
      const round = [...queues];
      const [tenant, queue] =
        round.find(([name]) => isBelowShare(name)) ?? round.find(([name]) => countOf(name) < maxPerTenant) ?? [];
      const next = queue?.shift();
      if (tenant === undefined || !queue || !next) return;
      // A tenant with more callers moves to the end of the round.
      queues.delete(tenant);
      if (queue.length > 0) queues.set(tenant, queue);
      next(grant(tenant));
    }
  };

  const revokeFor = (waitingTenant: string) => {
    if (!isBelowShare(waitingTenant)) return;
    const overShare = [...held].find(({ tenant }) => heldBy(tenant).length > fairShare);
    const newest = overShare && heldBy(overShare.tenant).at(-1);
    newest?.revocation.abort(new Error('Permit revoked'));
  };

  const dequeue = (tenant: string, onPermit: (permit: Permit) => void) => {
    const queue = queues.get(tenant)?.filter((other) => other !== onPermit) ?? [];
    if (queue.length > 0) queues.set(tenant, queue);
    else queues.delete(tenant);
  };

  return {
    waiting: (tenant) =>
      tenant === undefined
        ? [...queues.values()].reduce((sum, queue) => sum + queue.length, 0)
        : (queues.get(tenant)?.length ?? 0),
    acquire(tenant, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const timer = revokeAfterMs === undefined ? undefined : setTimeout(revokeFor, revokeAfterMs, tenant);
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const onPermit = (permit: Permit) => {
          end();
          resolve(permit);
        };
        const onAbort = () => {
          end();
          dequeue(tenant, onPermit);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queues.set(tenant, [...(queues.get(tenant) ?? []), onPermit]);
        grantNext();
      });
    },
  };
}
