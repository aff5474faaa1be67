import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createCache } from '@reelay/concurrency';
import { accessKeyId, networkOf, signatureOf } from './client.ts';

/** Limits guesses of access keys, by client. Keys are given by their hash. */
interface KeyGuesses {
  /**
   * Seconds until a key may be compared for a client; 0: now. One that the client has sent before may always be, since the
   * answer is known to it: a program with an outdated key does not use up the limit, and a client with a key keeps its access
   * while someone else behind its address guesses.
   */
  waitSeconds(client: string, hash: string): number;
  /** To be called when the instance does not have the key. */
  reject(client: string, hash: string): void;
  /** To be called when the key has given the client access. */
  accept(client: string, hash: string): void;
}

/** A client, and a /48 of 256 clients, may send this many different wrong keys in a minute. */
const MAX_WRONG_KEYS = 10;
const MAX_WRONG_KEYS_PER_NETWORK = 4 * MAX_WRONG_KEYS;
const WINDOW_MS = 60_000;
/** As many clients and networks, and as many accepted keys, are remembered: 3 MB at most. */
const MAX_REMEMBERED = 4096;

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
        if (!window || window.keys.size < maxWrongKeys || window.keys.has(accessKeyId(hash))) return 0;
        return Math.ceil((window.endsAt - now()) / 1000);
      });
      return Math.max(...waits);
    },
    reject(client, hash) {
      for (const [name] of limitsOf(client)) {
        const window = windows.get(name) ?? windows.set(name, { endsAt: now() + WINDOW_MS, keys: new Set() });
        window.keys.add(accessKeyId(hash));
      }
    },
    accept: (client, hash) => void accepted.set(`${client} ${hash}`, true),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares texts in constant time: digests have the equal length that `timingSafeEqual` requires. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

/** Clocks of hosts may differ by this much. */
const MAX_CLOCK_SKEW_SECONDS = 60;
/** Cookie in which the page of the instance sends its key: links and players of the page then work as its requests do. */
const COOKIE = /(?:^|;) *reelay-access-key=([\w.~+/-]+=*) *(?:;|$)/;
/** Credentials of RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;
/** `<key>.<id of the access key>.<expiry, epoch seconds>.<signature>` */
const SIGNED_KEY = /^([\w-]{1,64})\.([0-9a-f]{12})\.(\d{1,12})\.([\w-]{22})$/;

/** The credentials that a request carries. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The header X-Api-Key. */
  readonly apiKey: string | undefined;
  readonly cookie?: string | undefined;
}

/** A key that a stream link contains: signed and still valid, or why it is not. */
type SignedKey = { readonly key: string; readonly hash: string } | { readonly refused: 'expired' | 'invalid' };

/** The keys of a private instance. */
interface AccessControl {
  /** The hash of the known key that a request carries. */
  identify(credentials: Credentials): string | undefined;
  /** Verifies a key of a link; undefined when it has no signature. */
  verify(text: string): SignedKey | undefined;
  /** Verifies the `access` parameter of a URL of Get or Feed. @param link its `url` parameter */
  verifyLink(link: string, parameter: string): SignedKey;
}

/**
 * @param hashes SHA-256 of each key in hexadecimal
 * @param now epoch milliseconds
 */
export function createAccessControl(hashes: readonly string[], now: () => number = Date.now): AccessControl {
  const byId = new Map(hashes.map((hash) => [accessKeyId(hash), hash]));

  const check = (text: string, link?: string): SignedKey => {
    const [, key = '', id = '', expiry = '', signature = ''] = SIGNED_KEY.exec(text) ?? [];
    const signed = link ?? key;
    const hash = byId.get(id);
    // Before the expiry: only the owner of a valid signature may learn that it has expired.
    if (hash === undefined || !isEqual(signature, signatureOf(hash, signed, expiry))) return { refused: 'invalid' };
    const isExpired = now() / 1000 > Number(expiry) + MAX_CLOCK_SKEW_SECONDS;
    return isExpired ? { refused: 'expired' } : { key: signed, hash };
  };

  return {
    identify(credentials) {
      const hash = hashOfKey(credentials);
      if (hash === undefined) return undefined;
      // Looked up by a part of the hash, which reveals nothing about the key; compared as a whole in constant time.
      const known = byId.get(accessKeyId(hash));
      return known !== undefined && isEqual(known, hash) ? known : undefined;
    },
    verify(text) {
      return text.includes('.') ? check(text) : undefined;
    },
    verifyLink: (link, parameter) => check(`url.${parameter}`, link),
  };
}

/** The hash of the key that a request carries, known or not. */
export function hashOfKey({ authorization, apiKey, cookie }: Credentials): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1] ?? apiKey?.trim() ?? COOKIE.exec(cookie ?? '')?.[1];
  return token ? createHash('sha256').update(token).digest('hex') : undefined;
}

/** Header that the edge adds to every forwarded request, its secret or a signature; lower case. */
export const ORIGIN_SECRET_HEADER = 'x-reelay-origin';

/** Whether a request comes from the edge, by the secret that it carries. */
export type OriginSecretCheck = (received: string | undefined) => Promise<boolean>;

/** A secret that is accepted no longer, as after a leak, is refused within this time. */
const SECRETS_TTL_MS = 60_000;
/** Requests with unknown secrets have them read this often at most. */
const MIN_READ_INTERVAL_MS = 1_000;

/**
 * Creates a check of the origin secret. A rotation stores its secret seconds before the edge sends it: one that is not known yet is
 * looked for again.
 * @param readAccepted the secrets of now: while a rotation is deployed, edge locations send the current or the previous one
 * @param now epoch milliseconds
 * @returns the check. It throws what `readAccepted` throws
 */
export function createOriginSecretCheck(
  readAccepted: () => Promise<readonly string[]>,
  now: () => number = Date.now,
): OriginSecretCheck {
  let accepted: readonly Buffer[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return async (received) => {
    if (!received) return false;
    const actual = digest(received);
    // Digests have equal length, which timingSafeEqual requires.
    const isAccepted = () => accepted.filter((each) => timingSafeEqual(actual, each)).length > 0;
    const time = now();
    const age = time - readAt;
    if (age < MIN_READ_INTERVAL_MS || (age < SECRETS_TTL_MS && isAccepted())) return isAccepted();
    accepted = (await readAccepted()).map(digest);
    readAt = time;
    return isAccepted();
  };
}

/** What the edge signs of a request. */
interface SignedRequest {
  readonly method: string;
  /** As it is sent, without the query. */
  readonly path: string;
}

/** A signature is valid for this time, and clocks may differ by as much. */
const SIGNATURE_SECONDS = 60;

/** `<epoch seconds>.<HMAC-SHA-256>`, as the edge function computes it (`viewer-request-task.js`). */
export const signRequest = (secret: string, { method, path }: SignedRequest, epochSeconds: number): string =>
  `${epochSeconds}.${createHmac('sha256', secret).update(`${method} ${path} ${epochSeconds}`).digest('base64url')}`;

/**
 * Creates a check of requests that the edge sends by plain HTTP: they have a signature in place of the secret.
 * @param now epoch milliseconds
 */
export function createSignatureCheck(
  secret: string,
  now: () => number = Date.now,
): (request: SignedRequest, received: string | undefined) => boolean {
  return (request, received = '') => {
    const epochSeconds = Number(/^\d{1,12}(?=\.)/.exec(received)?.[0] ?? Number.NaN);
    if (!(Math.abs(now() / 1000 - epochSeconds) <= SIGNATURE_SECONDS)) return false;
    return isEqual(received, signRequest(secret, request, epochSeconds));
  };
}
