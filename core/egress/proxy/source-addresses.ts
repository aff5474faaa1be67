import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Addresses taken from one IPv6 prefix: each is an identity of its own, whose health is kept for each site. */
const MAX_OF_PREFIX = 64;

/** Single addresses as they are, and addresses from each IPv6 prefix. */
export const expandAddresses = (settings: readonly string[]): string[] => [
  ...new Set(settings.flatMap((setting) => (setting.includes('/') ? addressesOf(setting) : [setting]))),
];

/**
 * Addresses of an IPv6 prefix, spread over it and the same after each start. Sites block whole /64 networks: those of a
 * shorter prefix are in as many as it has.
 */
export function addressesOf(prefix: string): string[] {
  const [network, prefixLength] = ipaddr.IPv6.parseCIDR(prefix);
  const count = Math.min(MAX_OF_PREFIX, 2 ** (128 - prefixLength));
  return Array.from({ length: count }, (_, index) => {
    // A small prefix is used whole.
    const isWhole = count < MAX_OF_PREFIX;
    const digest = isWhole ? Buffer.alloc(16, index) : createHash('sha256').update(`${prefix} ${index}`).digest();
    const bytes = network.toByteArray().map((byte, at) => {
      const hostBits = Math.min(8, Math.max(0, (at + 1) * 8 - prefixLength));
      const mask = 2 ** hostBits - 1;
      return (byte & ~mask) | ((digest[at] ?? 0) & mask);
    });
    return new ipaddr.IPv6(bytes).toString();
  });
}
