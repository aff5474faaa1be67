import ipaddr from 'ipaddr.js';
import { parseHostPort } from './host-port.ts';

/** The target of a connection. */
export interface Destination {
  /** A name or an IP literal as WHATWG URL serializes it; IPv6 with or without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** Decides which names and addresses may be connected to. Pure: it resolves no names. */
export interface AddressGuard {
  /** Whether a name may be looked up, or an IP literal connected to. */
  admitsHost(destination: Destination): boolean;
  /** Whether a resolved address of the destination may be connected to. */
  admitsAddress(address: string, destination: Destination): boolean;
}

/** Domains that resolve within a machine, a network or a cloud's metadata service, with their subdomains. */
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

/** A public address that is internal to Azure: every virtual machine reaches its host there. */
const AZURE_HOST = '168.63.129.16';

/** IPv6 global unicast (RFC 4291 §2.4). All other addresses are special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Creates a guard that admits public addresses only.
 * @param allow `host:port` pairs that are admitted with any address. Each opens one port of one host.
 * @throws Error that names the first entry that is not `host:port`
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

/** Whether a host is an IP literal. Expects the form of WHATWG URL, which normalizes other notations such as `0x7f.1`. */
export const isLiteral = (hostname: string): boolean => ipaddr.isValid(withoutBrackets(hostname));

/** The host in lower case, without the brackets of an IPv6 literal and without the dot of the root domain. */
export const bareHost = (hostname: string): string => withoutBrackets(hostname).replace(/\.$/, '').toLowerCase();

/**
 * Whether an address belongs to the public internet: not loopback, private, link-local, shared (CGNAT), multicast,
 * reserved, documentation, a cloud's metadata, or an IPv6 address that embeds an IPv4 address (v4-mapped, NAT64, 6to4,
 * Teredo). False for text that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const bare = withoutBrackets(address);
  if (!ipaddr.isValid(bare)) return false;
  const parsed = ipaddr.parse(bare);
  if (parsed.range() !== 'unicast' || bare === AZURE_HOST) return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** A name without a dot resolves within a network only. */
function isPublicName(hostname: string): boolean {
  const name = bareHost(hostname);
  return name.includes('.') && !PRIVATE_NAMES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

function parseAllowed(entry: string): Destination {
  const destination = parseHostPort(entry.trim());
  if (!destination) throw new Error(`An address to allow must be host:port, not ${JSON.stringify(entry)}`);
  return destination;
}

const endpoint = ({ hostname, port }: Destination) => `${bareHost(hostname)} ${port}`;
const withoutBrackets = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');
