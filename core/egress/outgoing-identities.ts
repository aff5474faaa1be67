import { createHash } from 'node:crypto';
import { DIRECT, type OutgoingRoutes } from '@reelay/guarded-fetch';
import ipaddr from 'ipaddr.js';
import type { BlockedAddress } from './egress.ts';

/**
 * Outgoing identities, which are those of its routes: one for each configured proxy and for each source address of this machine, and `direct`, which is
 * used where neither is configured. An id whose proxy is no longer configured has
 * another route, always the same, which is logged once.
 */
export interface ProxyPool extends OutgoingRoutes {
  /**
   * The id that the rules name for a link, even if its proxy failed. Else `preferred`, else the ids of the proxies in turn,
   * else those of the source addresses, without those that failed a short while ago and those that rest for the site of the
   * link. If that leaves none: the one whose rest ends first.
   */
  next(link?: string, preferred?: string): string;
  /** As `next`, for a link whose site has blocked others; undefined when none is left. */
  nextAfter(link: string, tried: ReadonlySet<string>): string | undefined;
  /** Whether an id is one of this process: another one that shares the table, or an earlier one, may have had others. */
  owns(id: string): boolean;
  /**
   * To be called when the site of a link has blocked an id rather than the link: it rests for the site.
   * @param minRestSeconds as the site says
   */
  reportBlocked(link: string, id: string, minRestSeconds?: number): void;
  /** To be called when the site of a link has served an id. */
  reportServed(link: string, id: string): void;
  /** The addresses that rest for a site, without credentials. */
  blocked(): readonly BlockedAddress[];
}

export interface ProxyPoolOptions {
  /** `host=position`, counted from 1, or `host=direct`; the first that matches applies. @default none */
  readonly rules?: readonly string[];
  /** Addresses of this machine, or IPv6 prefixes, to connect from when no proxy is left. @default none */
  readonly sourceAddresses?: readonly string[];
  /** The id of direct connections of this process. @default `direct` */
  readonly directId?: string;
}

/** Whether an identity is that of direct connections; followed by `@` and a name, those of another process. */
export const isDirect = (id: string): boolean => id === DIRECT || id.startsWith(`${DIRECT}@`);

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
