import ipaddr from 'ipaddr.js';

/** Where a connection would go: a host as WHATWG URL gives it, and a port. */
export interface Destination {
  /** A name or an address literal, lower case, IPv6 in brackets or not. */
  readonly hostname: string;
  readonly port: number;
}

/** Decides which names and addresses may be connected to. Knows no network: data in, data out. */
export interface AddressGuard {
  /** Whether the name may be looked up at all, or the literal connected to. */
  admitsHost(destination: Destination): boolean;
  /** Whether one resolved address of that destination may be connected to. */
  admitsAddress(address: string, destination: Destination): boolean;
}

/** Names that stand for this machine, its network or its cloud's metadata, with every name below them. */
const PRIVATE_NAMES = [
  'localhost', // RFC 6761 §6.3
  'localdomain',
  'local', // RFC 6762
  'internal', // reserved for private use; metadata.google.internal, instance-data.ec2.internal
  'home.arpa', // RFC 8375
  'lan',
  'intranet',
  'corp',
  'private',
  'onion', // RFC 7686: never to be looked up
];

/** Public by its number, and yet a cloud's own: Azure's host answers there, from within every network of its guests. */
const AZURE_HOST = '168.63.129.16';

/** IPv6 addresses given out as global unicast (RFC 4291 §2.4): everything else is special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * A guard that admits public addresses alone.
 * @param allow `host:port` pairs that are admitted whatever their address: each opens that one port of that one host
 * @throws Error naming the entry that is not `host:port`
 */
export function createAddressGuard(allow: readonly string[]): AddressGuard {
  const allowed = new Set(allow.map((entry) => endpoint(parseAllowed(entry))));
  const isAllowed = (hostname: string, port: number) => allowed.has(endpoint({ hostname, port }));

  return {
    admitsHost: ({ hostname, port }) =>
      isAllowed(hostname, port) || (isLiteral(hostname) ? isPublicAddress(hostname) : isPublicName(hostname)),
    admitsAddress: (address, { hostname, port }) =>
      isAllowed(hostname, port) || isAllowed(address, port) || isPublicAddress(address),
  };
}

/** Whether a host is an address rather than a name. Only as WHATWG URL gives it: odd notations are normal by then. */
export const isLiteral = (hostname: string): boolean => ipaddr.isValid(withoutBrackets(hostname));

/** The host without the brackets of an IPv6 literal and without the root's dot. */
export const bareHost = (hostname: string): string => withoutBrackets(hostname).replace(/\.$/, '').toLowerCase();

/**
 * Whether an address is one of the public internet: not loopback, private, link-local, shared (CGNAT), multicast,
 * reserved, documentation, a cloud's metadata, or one that carries an IPv4 address inside (v4-mapped, NAT64, 6to4, Teredo). What cannot be
 * read as an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const bare = withoutBrackets(address);
  if (!ipaddr.isValid(bare)) return false;
  const parsed = ipaddr.parse(bare);
  if (parsed.range() !== 'unicast' || bare === AZURE_HOST) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** A name without a dot only means something inside a network. */
function isPublicName(hostname: string): boolean {
  const name = bareHost(hostname);
  return name.includes('.') && !PRIVATE_NAMES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

/** A name, an IPv4 address, or an IPv6 address in brackets; no wildcard, which would look as if it opened many. */
const HOST_PORT = /^(\[[\da-f:.]+\]|[^\s*?#/\\@[\]:]+):(\d{1,5})$/i;

function parseAllowed(entry: string): Destination {
  const [, host, port] = HOST_PORT.exec(entry.trim()) ?? [];
  const url = URL.parse(`http://${host}`);
  if (!host || !url || Number(port) > 65_535)
    throw new Error(`An address to allow must be host:port, not ${JSON.stringify(entry)}`);
  return { hostname: url.hostname, port: Number(port) };
}

const endpoint = ({ hostname, port }: Destination) => `${bareHost(hostname)} ${port}`;
const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');
