import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Where a request came from. */
interface RequestAddress {
  /** The other end of the connection. Undefined once it is closed. */
  readonly remoteAddress: string | undefined;
  readonly forwardedFor: string | undefined;
  /** Proxies in front whose entry in X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
}

/** An IPv6 client may use any address of its network, which is a /56 at most providers (RFC 6177): that counts as the client. */
const IPV6_CLIENT_BYTES = 7;
/** A provider assigns a /48 to an organization, or on request: 256 clients. */
const IPV6_NETWORK_BYTES = 6;
const IPV6_CLIENT = new RegExp(`^[\\da-f]{${2 * IPV6_CLIENT_BYTES}}$`);
/** Clients of one IPv6 network that limits count one by one at a time. */
const MAX_NAMES_PER_NETWORK = 3;
/** `192.0.2.1:4711`, `[2001:db8::1]` and `[2001:db8::1]:4711`: some proxies write the port of the connection too. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?)$/i;

/** The client of a request, in the form of `clientOf`. */
export const readClient = (address: RequestAddress): string => clientOf(clientAddress(address));

/**
 * The address of the client: the trusted entry of X-Forwarded-For; without trusted proxies, or such a header, the address of the
 * connection.
 */
export const clientAddress = ({ remoteAddress, forwardedFor, trustedProxies }: RequestAddress): string | undefined =>
  trustedEntry(forwardedFor, trustedProxies) ?? remoteAddress;

/**
 * The entry of an X-Forwarded header that the outermost trusted proxy appended, or the outermost entry when there are fewer.
 * Entries further out are set by the client and not trusted. Undefined without trusted proxies or entries.
 */
export function trustedEntry(header: string | undefined, trustedProxies: number): string | undefined {
  if (trustedProxies < 1) return undefined;
  const entries = (header ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries[Math.max(0, entries.length - trustedProxies)];
}

/** Identifies a client by its address: an IPv4 address, or the /56 of an IPv6 address in hexadecimal. */
export function clientOf(address = ''): string {
  const [ipv4, ipv6] = address.match(WITH_PORT)?.slice(1) ?? [];
  const bare = ipv4 ?? ipv6 ?? address;
  if (!ipaddr.isValid(bare)) return bare;
  const parsed = ipaddr.process(bare);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, IPV6_CLIENT_BYTES)).toString('hex');
}

/** The /48 of an IPv6 client in hexadecimal; undefined for any other. @param client in the form of `clientOf` */
export const networkOf = (client: string): string | undefined =>
  IPV6_CLIENT.test(client) ? client.slice(0, 2 * IPV6_NETWORK_BYTES) : undefined;

/** The names by which limits count clients. */
interface ClientNames {
  /**
   * The name of a client while something is done for it. Once three clients of an IPv6 network have names, the others share that
   * of the network: all limits together allow a /48 at most four times what they allow one client.
   * @param client in the form of `clientOf`
   */
  hold(client: string): HeldName;
}

interface HeldName {
  readonly name: string;
  /** Further calls have no effect. */
  release(): void;
}

export function createClientNames(): ClientNames {
  /** Lists by network the clients that have names, and how often each is held. */
  const networks = new Map<string, Map<string, number>>();

  const leave = (network: string, client: string) => {
    const named = networks.get(network);
    const left = (named?.get(client) ?? 0) - 1;
    if (left > 0) named?.set(client, left);
    else named?.delete(client);
    if (named?.size === 0) networks.delete(network);
  };

  return {
    hold(client) {
      const network = networkOf(client);
      if (network === undefined) return { name: client, release: () => undefined };
      const named = networks.get(network) ?? new Map<string, number>();
      if (!named.has(client) && named.size >= MAX_NAMES_PER_NETWORK) return { name: network, release: () => undefined };
      networks.set(network, named.set(client, (named.get(client) ?? 0) + 1));
      let isHeld = true;
      return {
        name: client,
        release() {
          if (isHeld) leave(network, client);
          isHeld = false;
        },
      };
    },
  };
}

/**
 * Header that the front of a private instance (the edge function, or the listener on one machine) sets on every request that
 * it forwards, and removes from those that arrive: the hash of the key that the request was admitted with, its id alone where the
 * request may travel by plain HTTP, `none` for a request that needs no key. Absent: the instance is open.
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

/** Query parameter that admits a URL of Get or Feed: `<id of the access key>.<expiry>.<signature>` of its link. */
export const ACCESS_PARAMETER = 'access';
/** Subscriptions keep the URLs of a feed. They end earlier with their access key. */
const FEED_TTL_SECONDS = 366 * 24 * 3600;
const DAY_SECONDS = 24 * 3600;

const HASH = /^[0-9a-f]{64}$/;
const HASH_OR_ID = /^[0-9a-f]{12}(?:[0-9a-f]{52})?$/;
/** The id of a key, for links and for limits per client. @param hash of the key */
export const accessKeyId = (hash: string): string => hash.slice(0, ID_CHARACTERS);

/** Signs the keys of a response, so that its links work without headers for a day. */
export type SignKey = (key: string) => string;

/**
 * How to sign keys for the client of a request.
 * @param accessHeader value of `ACCESS_HEADER`
 * @returns the identity for an open instance, and where only the id of the key is known
 */
export function signerFor(accessHeader: string | undefined, now = Date.now()): SignKey {
  const sign = proofFor(accessHeader, now / 1000 + LINK_TTL_SECONDS, EXPIRY_STEP_SECONDS);
  return sign ? (key) => `${key}.${sign(key)}` : (key) => key;
}

/**
 * How to sign the URLs of Get and Feed that a feed contains, for a year.
 * @param accessHeader value of `ACCESS_HEADER`
 * @returns from a link to the `access` parameter; undefined for an open instance
 */
export const linkSignerFor = (accessHeader: string | undefined, now = Date.now()): SignKey | undefined =>
  proofFor(accessHeader, now / 1000 + FEED_TTL_SECONDS, DAY_SECONDS);

/** From a text to `<id of the access key>.<expiry>.<signature>`, with an expiry that is a multiple of the step. */
function proofFor(hash = '', expirySeconds: number, stepSeconds: number): SignKey | undefined {
  if (!HASH.test(hash)) return undefined;
  const expiry = String(Math.ceil(expirySeconds / stepSeconds) * stepSeconds);
  return (text) => `${accessKeyId(hash)}.${expiry}.${signatureOf(hash, text, expiry)}`;
}

/**
 * What limits count: the access key where the instance is private, from however many addresses it is used; else the client.
 * @param client in the form of `clientOf`
 */
export const limitedBy = (client: string, accessHeader = ''): string =>
  HASH_OR_ID.test(accessHeader) ? `key ${accessKeyId(accessHeader)}` : client;

/** The id of a job among those of the access key that began it: another key neither sees nor replaces the job. */
export const ownJobId = (jobId: string, accessHeader = ''): string =>
  HASH_OR_ID.test(accessHeader) ? `${accessKeyId(accessHeader)}/${jobId}` : jobId;

/** 128 bits of HMAC-SHA-256 with the hash of the key, as the edge function computes it. */
export const signatureOf = (hash: string, key: string, expiry: string): string =>
  createHmac('sha256', hash).update(`${key}.${expiry}`).digest('base64url').slice(0, SIGNATURE_CHARACTERS);
