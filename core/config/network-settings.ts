import { BlockList, isIP, SocketAddress } from 'node:net';
import { defineParser, listOf, type Parser, SettingError, secretList } from './parsers.ts';

/** A shorter prefix belongs to no single machine. */
const MIN_PREFIX_BITS = 32;
/** Unspecified, link-local, multicast and broadcast. Not by a library: functions of 200 KB read the settings too. */
const UNUSABLE = new BlockList();
UNUSABLE.addSubnet('0.0.0.0', 8, 'ipv4');
UNUSABLE.addSubnet('169.254.0.0', 16, 'ipv4');
UNUSABLE.addSubnet('224.0.0.0', 3, 'ipv4');
UNUSABLE.addSubnet('::', 128, 'ipv6');
UNUSABLE.addSubnet('fe80::', 10, 'ipv6');
UNUSABLE.addSubnet('ff00::', 8, 'ipv6');

/** Addresses and IPv6 prefixes in their shortest form. */
export const sourceAddresses = secretList(
  'a comma list of IP addresses of this machine, or of IPv6 prefixes such as 2001:db8:1:2::/64',
  normalizeAddress,
);

function normalizeAddress(item: string): string | undefined {
  const [address = '', bits, ...more] = item.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  if (isIP(address) === 0 || address.includes('%') || more.length > 0 || UNUSABLE.check(address, family))
    return undefined;
  const shortest = new SocketAddress({ address, family }).address;
  if (shortest.startsWith('::ffff:')) return undefined; // IPv4-mapped
  if (bits === undefined) return shortest;
  const isPrefix =
    family === 'ipv6' && /^\d{1,3}$/.test(bits) && Number(bits) >= MIN_PREFIX_BITS && Number(bits) <= 128;
  return isPrefix ? `${shortest}/${Number(bits)}` : undefined;
}

/** IP addresses, and networks of them. */
export const addressRanges = listOf('a comma list of IP addresses, or of networks such as 172.18.0.0/16', (item) => {
  const [address = '', bits = '0', ...more] = item.split('/');
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits && more.length === 0 ? item : undefined;
});

/** The base URL of a service. The error line does not repeat it: it may contain credentials. */
export function serviceUrl(example: string): Parser<string> {
  const accepts = `an http or https URL without credentials and query, such as ${example}`;
  return defineParser(accepts, (name, text) => {
    const url = URL.parse(text);
    const isPlain =
      url && ['http:', 'https:'].includes(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    if (!isPlain) throw new SettingError(`${name} must be ${accepts}`);
    return url.href.replace(/\/$/, '');
  });
}
