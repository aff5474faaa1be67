/** Limits how often each client does something: a token bucket for each (GCRA). */
export interface RateLimit {
  /**
   * Takes a token of a client. One that has none owes it: a client that does not wait has to wait longer.
   * @returns milliseconds until the client would have had a token; 0: it had one
   */
  take(client: string): number;
  /** Milliseconds until the client has a token; 0: it has one. */
  waitMs(client: string): number;
}

export interface RateLimitOptions {
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
