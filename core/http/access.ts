import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Header that the front of a private instance (the edge function, or the listener on one machine) sets on every request that
 * it forwards, and removes from those that arrive: the hash of the key that the request was admitted with, `none` for a
 * request that needs no key. Absent: the instance is open.
 */
export const ACCESS_HEADER = 'x-reelay-access';

/** The `ACCESS_HEADER` of a request that the front has forwarded; undefined: the instance is open. */
export const accessHeaderOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined =>
  headers[ACCESS_HEADER]?.toString();

/** Value of `ACCESS_HEADER` for requests that are admitted without a key. */
export const NO_ACCESS_KEY = 'none';

/** Request headers in which a client sends its key; allowed in preflights of private instances. */
export const ACCESS_REQUEST_HEADERS = ['Authorization', 'X-Api-Key'] as const;

/** For `Vary`: a shared cache must not serve one client's response to another without a key (RFC 9111 §4.1). */
export const ACCESS_VARY = 'Authorization, X-Api-Key, Cookie';

/** Characters of a key's hash that identify it. */
const ID_CHARACTERS = 12;
const SIGNATURE_CHARACTERS = 22;
/** A link is valid for at least this time. */
const LINK_TTL_SECONDS = 24 * 3600;
/** Expiry times are multiples of this, so that a link stays the same for a while. */
const EXPIRY_STEP_SECONDS = 3600;
/** Clocks of hosts may differ by this much. */
const MAX_CLOCK_SKEW_SECONDS = 60;

/** Cookie in which the page of the instance sends its key: links and players of the page then work as its requests do. */
const COOKIE = /(?:^|;) *reelay-access-key=([\w.~+/-]+=*) *(?:;|$)/;
/** Query parameter that admits a URL of Get or Feed: `<id of the access key>.<expiry>.<signature>` of its link. */
export const ACCESS_PARAMETER = 'access';
/** Subscriptions keep the URLs of a feed. They end earlier with their access key. */
const FEED_TTL_SECONDS = 366 * 24 * 3600;
const DAY_SECONDS = 24 * 3600;

/** Credentials of RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;
const HASH = /^[0-9a-f]{64}$/;
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
export type SignedKey = { readonly key: string; readonly hash: string } | { readonly refused: 'expired' | 'invalid' };

/** The keys of a private instance. */
export interface AccessControl {
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

  const check = (signed: string, id: string, expiry: string, signature: string): SignedKey => {
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
      if (!text.includes('.')) return undefined;
      const [, key = '', id = '', expiry = '', signature = ''] = SIGNED_KEY.exec(text) ?? [];
      return check(key, id, expiry, signature);
    },
    verifyLink(link, parameter) {
      const [, key = '', id = '', expiry = '', signature = ''] = SIGNED_KEY.exec(`url.${parameter}`) ?? [];
      return check(key && link, id, expiry, signature);
    },
  };
}

/** The hash of the key that a request carries, known or not. */
export function hashOfKey({ authorization, apiKey, cookie }: Credentials): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1] ?? apiKey?.trim() ?? COOKIE.exec(cookie ?? '')?.[1];
  return token ? createHash('sha256').update(token).digest('hex') : undefined;
}

/** The id of a key, for links and for limits per client. @param hash of the key */
export const accessKeyId = (hash: string): string => hash.slice(0, ID_CHARACTERS);

/** Signs the keys of a response, so that its links work without headers for a day. */
export type SignKey = (key: string) => string;

/**
 * How to sign keys for the client of a request.
 * @param accessHeader value of `ACCESS_HEADER`
 * @returns the identity for an open instance
 */
export function signerFor(accessHeader: string | undefined, now = Date.now()): SignKey {
  const hash = accessHeader ?? '';
  if (!HASH.test(hash)) return (key) => key;
  const expiry = Math.ceil((now / 1000 + LINK_TTL_SECONDS) / EXPIRY_STEP_SECONDS) * EXPIRY_STEP_SECONDS;
  return (key) => `${key}.${accessKeyId(hash)}.${expiry}.${signatureOf(hash, key, String(expiry))}`;
}

/**
 * How to sign the URLs of Get and Feed that a feed contains, for a year.
 * @param accessHeader value of `ACCESS_HEADER`
 * @returns from a link to the `access` parameter; undefined for an open instance
 */
export function linkSignerFor(accessHeader: string | undefined, now = Date.now()): SignKey | undefined {
  const hash = accessHeader ?? '';
  if (!HASH.test(hash)) return undefined;
  const expiry = String(Math.ceil((now / 1000 + FEED_TTL_SECONDS) / DAY_SECONDS) * DAY_SECONDS);
  return (link) => `${accessKeyId(hash)}.${expiry}.${signatureOf(hash, link, expiry)}`;
}

/**
 * What limits count: the access key where the instance is private, from however many addresses it is used; else the client.
 * @param client in the form of `clientOf`
 */
export const limitedBy = (client: string, accessHeader = ''): string =>
  HASH.test(accessHeader) ? `key ${accessKeyId(accessHeader)}` : client;

/** 128 bits of HMAC-SHA-256 with the hash of the key, as the edge function computes it. */
const signatureOf = (hash: string, key: string, expiry: string): string =>
  createHmac('sha256', hash).update(`${key}.${expiry}`).digest('base64url').slice(0, SIGNATURE_CHARACTERS);

/** Compares texts of equal length in constant time. */
const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
