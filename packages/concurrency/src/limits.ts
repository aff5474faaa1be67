/** Permits that a client had do not count below this rate: one that releases each soon, by requests that it resets, has many. */
const RECENT = { perSecond: 2, burst: 20, maxDebt: 20 };

/** The right to use one of a few slots, until it is released. */
export interface Permit {
  /** Further permits that the client held or waited for when this one was granted, or had had recently. */
  readonly rank: number;
  /** Aborted when clients with fewer permits wait for it: release it, and acquire another. */
  readonly revoked: AbortSignal;
  /** Further calls have no effect. */
  release(): void;
}

/** Limits how many callers do something at once: in all, and of one client. */
export interface Semaphore {
  /**
   * Waits for a permit: clients in turn, each first come, first served.
   * @param weight of that many permits, at most as many as a client may hold. @default 1
   * @throws the signal's reason once it is aborted
   */
  acquire(client: string, signal: AbortSignal, weight?: number): Promise<Permit>;
  /** A permit if one is free now, and nobody waits for it. @param weight as that of `acquire` */
  tryAcquire(client: string, weight?: number): Permit | undefined;
  /** The weight of what is held: by a client, or by all. */
  held(client?: string): number;
  /** Callers that wait for a permit: those of a client, or all. */
  waiting(client?: string): number;
}

interface SemaphoreOptions {
  /** @default no limit */
  readonly permits?: number;
  /** Permits that one client may hold: the rest are free at once for the next client. @default `permits` */
  readonly maxPerClient?: number;
  /** Milliseconds a client waits before a permit of a client that holds more than half is revoked. @default never */
  readonly revokeAfterMs?: number;
}

interface Waiter {
  readonly weight: number;
  readonly grant: (permit: Permit) => void;
}

/** A permit that is held. */
interface Grant {
  readonly weight: number;
  readonly revocation: AbortController;
}

/**
 * Grants permits to clients in turn. A client alone may hold `maxPerClient` of them; while others wait it is granted no
 * more than half (at least one), and permits beyond that are revoked, newest first, since that loses the least work.
 */
export function createSemaphore({
  permits = Number.POSITIVE_INFINITY,
  maxPerClient = permits,
  revokeAfterMs,
}: SemaphoreOptions): Semaphore {
  const fairShare = Math.max(1, Math.floor(permits / 2));
  /** The client whose turn is next comes first; the callers of each in order of arrival. */
  const queues = new Map<string, Set<Waiter>>();
  /** The permits of each client, oldest first. Revoked ones count until they are released. */
  const heldBy = new Map<string, Set<Grant>>();
  const recent = createRateLimit(RECENT);
  let total = 0;

  const weightOf = (grants: Iterable<Grant>) => [...grants].reduce((sum, { weight }) => sum + weight, 0);
  const held = (client: string) => weightOf(heldBy.get(client) ?? []);
  const waiting = (client: string) => queues.get(client)?.size ?? 0;
  const unrevoked = (client: string) =>
    [...(heldBy.get(client) ?? [])].filter(({ revocation }) => !revocation.signal.aborted);
  const isBelowShare = (client: string) => weightOf(unrevoked(client)) < fairShare;
  const bounded = (weight: number) => Math.min(weight, Math.max(1, maxPerClient));
  const mayHold = (client: string, weight: number) => held(client) + weight <= maxPerClient;

  const grant = (client: string, weight: number): Permit => {
    const revocation = new AbortController();
    const recentExcess = Math.ceil((recent.take(client) * RECENT.perSecond) / 1000);
    const rank = held(client) + waiting(client) + recentExcess;
    const granted = { weight, revocation };
    addTo(heldBy, client, granted);
    total += weight;
    return {
      rank,
      revoked: revocation.signal,
      release() {
        if (!removeFrom(heldBy, client, granted)) return;
        total -= weight;
        grantNext();
      },
    };
  };

  /** Whose turn it is. A large permit is waited for: small ones do not overtake it. */
  const findNext = (): { readonly client: string; readonly waiter: Waiter } | undefined => {
    const first = [...queues].flatMap(([client, [waiter]]) =>
      waiter && mayHold(client, waiter.weight) ? [{ client, waiter }] : [],
    );
    return first.find(({ client }) => isBelowShare(client)) ?? first[0];
  };

  const grantNext = () => {
    for (let next = findNext(); next && total + next.waiter.weight <= permits; next = findNext()) {
      const { client, waiter } = next;
      const queue = queues.get(client);
      removeFrom(queues, client, waiter);
      // A client with more callers moves to the end of the round.
      if (queue && queues.delete(client)) queues.set(client, queue);
      waiter.grant(grant(client, waiter.weight));
    }
  };

  const revokeFor = (waitingClient: string) => {
    if (!isBelowShare(waitingClient)) return;
    const overShare = [...heldBy.keys()].map(unrevoked).find((grants) => weightOf(grants) > fairShare);
    overShare?.at(-1)?.revocation.abort(new Error('Permit revoked'));
  };

  const tryAcquire = (client: string, weight = 1) => {
    const wanted = bounded(weight);
    const isFree = total + wanted <= permits && mayHold(client, wanted);
    return isFree && !findNext() ? grant(client, wanted) : undefined;
  };

  return {
    tryAcquire,
    held: (client) => (client === undefined ? total : held(client)),
    waiting: (client) =>
      client === undefined ? [...queues.values()].reduce((sum, { size }) => sum + size, 0) : waiting(client),
    async acquire(client, signal, weight = 1) {
      signal.throwIfAborted();
      const permit = tryAcquire(client, weight);
      if (permit) return permit;
      return new Promise((resolve, reject) => {
        const timer = revokeAfterMs === undefined ? undefined : setTimeout(revokeFor, revokeAfterMs, client);
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const waiter: Waiter = {
          weight: bounded(weight),
          grant(granted) {
            end();
            resolve(granted);
          },
        };
        const onAbort = () => {
          end();
          removeFrom(queues, client, waiter);
          reject(signal.reason);
          // Others may have waited for its turn.
          grantNext();
        };
        signal.addEventListener('abort', onAbort, { once: true });
        addTo(queues, client, waiter);
      });
    },
  };
}

function addTo<T>(sets: Map<string, Set<T>>, name: string, value: T): void {
  const set = sets.get(name) ?? new Set();
  sets.set(name, set.add(value));
}

/** A client without any takes no memory. @returns whether it was there */
function removeFrom<T>(sets: Map<string, Set<T>>, name: string, value: T): boolean {
  const set = sets.get(name);
  const isRemoved = set?.delete(value) ?? false;
  if (set?.size === 0) sets.delete(name);
  return isRemoved;
}

/** Limits how often each client does something: a token bucket for each (GCRA). */
interface RateLimit {
  /**
   * Takes a token of a client. One that has none owes it: a client that does not wait has to wait longer.
   * @returns milliseconds until the client would have had a token; 0: it had one
   */
  take(client: string): number;
  /** Milliseconds until the client has a token; 0: it has one. */
  waitMs(client: string): number;
}

interface RateLimitOptions {
  /** Tokens that each client gets in a second. */
  readonly perSecond: number;
  /** Tokens that a client has at most: what it may do at once. */
  readonly burst: number;
  /** Tokens that a client may owe at most. @default 0 */
  readonly maxDebt?: number;
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
}

export function createRateLimit({
  perSecond,
  burst,
  maxDebt = 0,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const tokenMs = 1000 / perSecond;
  const burstMs = burst * tokenMs;
  /** When each client will have all of its tokens, by the last time that it took one: others have them already. */
  const fullAt = new Map<string, number>();

  const forget = (at: number) => {
    for (const [client, time] of fullAt) {
      if (time > at) return;
      fullAt.delete(client);
    }
  };
  const fullTime = (client: string, at: number) => Math.max(fullAt.get(client) ?? at, at);
  const waitMs = (client: string, at: number) => Math.max(0, fullTime(client, at) + tokenMs - at - burstMs);

  return {
    take(client) {
      const at = now();
      const wait = waitMs(client, at);
      if (wait <= maxDebt * tokenMs) {
        const time = fullTime(client, at) + tokenMs;
        fullAt.delete(client);
        fullAt.set(client, time);
      }
      forget(at);
      return wait;
    },
    waitMs: (client) => waitMs(client, now()),
  };
}
