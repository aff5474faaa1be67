import { createCache } from '../concurrency/index.ts';
import { networkOf } from './client-address.ts';

/** Limits guesses of access keys, by client. Keys are given by their hash. */
export interface KeyGuesses {
  /**
   * Seconds until a key may be compared for a client; 0: now. One that the client has sent before may always be, since the
   * answer is known to it: a program with an outdated key does not use up the limit, and a client with a key keeps its access
   * while someone else behind its address guesses.
   */
  waitSeconds(client: string, hash: string): number;
  /** The key is none of the instance. */
  reject(client: string, hash: string): void;
  /** The key has given the client access. */
  accept(client: string, hash: string): void;
}

/** Different wrong keys in a minute: of a client, and of a /48, which has 256 clients. */
const MAX_WRONG_KEYS = 10;
const MAX_WRONG_KEYS_PER_NETWORK = 4 * MAX_WRONG_KEYS;
const WINDOW_MS = 60_000;
/** Of clients and networks, and of keys that were accepted: 3 MB at most. */
const MAX_REMEMBERED = 4096;
/** Characters of a hash by which a wrong key is remembered. */
const ID_CHARACTERS = 12;

/** The wrong keys of a minute. */
interface Window {
  readonly endsAt: number;
  readonly keys: Set<string>;
}

/** @param now epoch milliseconds */
export function createKeyGuesses(now: () => number = Date.now): KeyGuesses {
  const windows = createCache<string, Window>({ maxEntries: MAX_REMEMBERED, maxAgeMs: WINDOW_MS, now });
  const accepted = createCache<string, true>({ maxEntries: MAX_REMEMBERED });

  const limitsOf = (client: string): readonly (readonly [name: string, maxWrongKeys: number])[] => {
    const network = networkOf(client);
    const own = [client, MAX_WRONG_KEYS] as const;
    return network === undefined ? [own] : [own, [network, MAX_WRONG_KEYS_PER_NETWORK]];
  };

  return {
    waitSeconds(client, hash) {
      if (accepted.get(`${client} ${hash}`)) return 0;
      const waits = limitsOf(client).map(([name, maxWrongKeys]) => {
        const window = windows.get(name);
        if (!window || window.keys.size < maxWrongKeys || window.keys.has(hash.slice(0, ID_CHARACTERS))) return 0;
        return Math.ceil((window.endsAt - now()) / 1000);
      });
      return Math.max(...waits);
    },
    reject(client, hash) {
      for (const [name] of limitsOf(client)) {
        const window = windows.get(name) ?? windows.set(name, { endsAt: now() + WINDOW_MS, keys: new Set() });
        window.keys.add(hash.slice(0, ID_CHARACTERS));
      }
    },
    accept: (client, hash) => void accepted.set(`${client} ${hash}`, true),
  };
}
