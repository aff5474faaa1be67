import ipaddr from 'ipaddr.js';

/** Where a request came from. */
export interface RequestAddress {
  /** Of the connection. Undefined once it is closed. */
  readonly remoteAddress: string | undefined;
  readonly forwardedFor: string | undefined;
  /** Proxies in front whose entry in X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
}

/** An IPv6 client may use any address of its network (RFC 6177), so the /64 counts as the client. */
const IPV6_CLIENT_BYTES = 8;
/** `192.0.2.1:4711`, `[2001:db8::1]` and `[2001:db8::1]:4711`: some proxies write the port of the connection too. */
const WITH_PORT = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?)$/i;

/** The client of a request, in the form of `clientOf`. */
export const readClient = (address: RequestAddress): string => clientOf(clientAddress(address));

/**
 * The address of the client: the entry of X-Forwarded-For that the outermost trusted proxy appended, or the outermost
 * entry when there are fewer; without trusted proxies the address of the connection. Entries further out are set by the
 * client and not trusted.
 */
export function clientAddress({ remoteAddress, forwardedFor, trustedProxies }: RequestAddress): string | undefined {
  if (trustedProxies < 1) return remoteAddress;
  const hops = (forwardedFor ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return hops[Math.max(0, hops.length - trustedProxies)] ?? remoteAddress;
}

/** Identifies a client by its address: an IPv4 address, or the /64 network of an IPv6 address in hexadecimal. */
export function clientOf(address = ''): string {
  const [ipv4, ipv6] = address.match(WITH_PORT)?.slice(1) ?? [];
  const bare = ipv4 ?? ipv6 ?? address;
  if (!ipaddr.isValid(bare)) return bare;
  const parsed = ipaddr.process(bare);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : Buffer.from(parsed.toByteArray().slice(0, IPV6_CLIENT_BYTES)).toString('hex');
}
