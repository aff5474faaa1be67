import ipaddr from 'ipaddr.js';

/** Where a request came from. */
export interface RequestAddress {
  /** Of the connection. Undefined once it is closed. */
  readonly remoteAddress: string | undefined;
  readonly forwardedFor: string | undefined;
  /** Proxies in front whose entry in X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
}

/** An IPv6 client may use any address of its network, which is a /56 at most providers (RFC 6177): that counts as the client. */
const IPV6_CLIENT_BYTES = 7;
/** An organization, or whoever asks for more, has a /48: 256 clients. */
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
export interface ClientNames {
  /**
   * The name of a client while something is done for it. Once three clients of an IPv6 network have names, the others share that
   * of the network: all limits together give a /48 at most four times what they give one client.
   * @param client in the form of `clientOf`
   */
  hold(client: string): HeldName;
}

export interface HeldName {
  readonly name: string;
  /** Further calls have no effect. */
  release(): void;
}

export function createClientNames(): ClientNames {
  /** By network: the clients that have names, and how often each is held. */
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
