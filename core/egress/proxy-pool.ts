import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { createCache, getRetryDelay } from '@reelay/concurrency';
import { DIRECT, type OutgoingRoutes } from '@reelay/guarded-fetch';
import ipaddr from 'ipaddr.js';
import { matchesSite, normalizeProxyUrl, parseProxyRule } from '../config/index.ts';
import type { Log } from '../log/index.ts';

/**
 * Outgoing identities: one for each configured proxy and for each source address of this machine, and `direct`, which is used
 * where neither is configured.
 */
export interface OutgoingIdentities {
  /**
   * The identity for a new resolve: of the proxy that the rules name for the link, even if it failed; else `preferred`; else of
   * the proxies in turn, else of the source addresses, without those that failed a short while ago and those that rest for the
   * site of the link. If that leaves none: the one whose rest ends first.
   */
  nextIdentity(link?: string, preferred?: string): string;
  /** Another identity for a link whose site has blocked those that were tried; undefined when none is left. */
  otherIdentity(link: string, tried: ReadonlySet<string>): string | undefined;
  /** Whether an identity is one of this process: another one that shares the table, or an earlier one, may have had others. */
  ownsIdentity(identity: string): boolean;
  /**
   * To be called when the site of a link has blocked an identity rather than the link: new resolves of the site leave it
   * out for a while, each time twice as long.
   * @param minRestSeconds as the site says
   */
  reportBlocked(link: string, identity: string, minRestSeconds?: number): void;
  /** To be called when the site of a link has served an identity. */
  reportServed(link: string, identity: string): void;
  /** The outgoing addresses that rest for a site at present, without credentials. */
  blockedAddresses(): readonly BlockedAddress[];
}

interface BlockedAddress {
  readonly site: string;
  /** `proxy N` by its position from 1, a source address, or `direct`. */
  readonly address: string;
  readonly restSeconds: number;
}

/** An identity whose proxy is no longer configured has another route, always the same, which is logged once. */
interface ProxyPool extends OutgoingRoutes, OutgoingIdentities {}

interface ProxyPoolOptions {
  /** `host=position`, counted from 1, or `host=direct`; the first that matches applies. @default none */
  readonly rules?: readonly string[] | undefined;
  /** Addresses of this machine, or IPv6 prefixes, to connect from when no proxy is left. @default none */
  readonly sourceAddresses?: readonly string[] | undefined;
  /** The id of direct connections of this process. @default `direct` */
  readonly directId?: string | undefined;
}

/** Failures of one proxy since it last worked. */
interface Failures {
  count: number;
  /** Epoch milliseconds until which `nextIdentity` leaves the proxy out. */
  excludedUntil: number;
}

const EXCLUSION = { initialDelayMs: 30_000, maxDelayMs: 30 * 60_000 };

/**
 * Creates the pool of configured proxies and source addresses.
 * @param urls `http://`, `https://` or `socks5://`, with credentials where the proxy requires them
 * @throws Error that names an invalid entry by its position alone: the entry may contain a password
 */
export function createProxyPool(
  urls: readonly string[],
  log: Log,
  { rules = [], sourceAddresses = [], directId = DIRECT }: ProxyPoolOptions = {},
): ProxyPool {
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const addresses = new Map(expandAddresses(sourceAddresses).map((address) => [`address-${address}`, address]));
  // Proxies are used before source addresses.
  const configured = [[...proxies.keys()], [...addresses.keys()]].filter((ids) => ids.length > 0);
  const [first = [directId], ...others] = configured;
  const groups = [first, ...others].map(createTurns);
  const reportedIds = new Set<string>();

  const fallbackFor = (id: string): string => {
    const fallback = first[createHash('sha256').update(id).digest().readUInt32BE() % first.length] as string;
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      log.warn('Outgoing address is no longer configured, using another one', { id, fallback });
    }
    return fallback;
  };
  const ownsIdentity = (id: string): boolean => id === directId || proxies.has(id) || addresses.has(id);
  /** The id under which this process sends what a stored id names. */
  const own = (id: string): string => {
    if (ownsIdentity(id)) return id;
    // `direct@name`: direct connections of another process.
    return id === DIRECT || id.startsWith(`${DIRECT}@`) ? directId : fallbackFor(id);
  };
  /** Counted from 1, as in the error lines of the setting. */
  const positionOf = (proxy: URL) => [...proxies.values()].indexOf(proxy) + 1;
  const nameOf = (id: string): string => {
    const proxy = proxies.get(id);
    return proxy ? `proxy ${positionOf(proxy)}` : (addresses.get(id) ?? DIRECT);
  };

  const siteRules = rules.map((text, index) => {
    const rule = parseProxyRule(text);
    const url = rule && rule.proxy !== 'direct' ? urls[rule.proxy - 1] : undefined;
    const id = rule?.proxy === 'direct' ? directId : url && identityOf(url);
    if (!rule || !id)
      throw new Error(`Proxy rule ${index + 1} is not host=position of an outgoing proxy or host=direct`);
    return { rule, id };
  });
  const health = createSiteHealth();
  const failing = new Map<URL | undefined, Failures>();

  const isFailing = (id: string) => (failing.get(proxies.get(id))?.excludedUntil ?? 0) > Date.now();
  const ruleFor = (link: string) => siteRules.find(({ rule }) => matchesSite(rule, link))?.id;
  const nextUsable = (site: string, tried?: ReadonlySet<string>): string | undefined => {
    const isUsable = (id: string) => !tried?.has(id) && !isFailing(id) && !health.restsUntil(site, id);
    for (const group of groups) {
      const id = group.next(isUsable);
      if (id === undefined) continue;
      health.use(site, id);
      return id;
    }
    return undefined;
  };
  /** All of them rest for the site: the one whose rest ends first. */
  const firstToReturn = (site: string): string | undefined =>
    groups
      .flatMap(({ ids }) => ids.filter((id) => !isFailing(id)))
      .map((id) => ({ id, until: health.restsUntil(site, id) }))
      .sort((one, other) => one.until - other.until)[0]?.id;

  return {
    nextIdentity(link = '', preferred) {
      const named = ruleFor(link);
      if (named) return named;
      const site = siteOf(link);
      const wanted = preferred === undefined ? undefined : own(preferred);
      if (wanted !== undefined && !isFailing(wanted) && !health.restsUntil(site, wanted)) {
        health.use(site, wanted);
        return wanted;
      }
      return nextUsable(site) ?? firstToReturn(site) ?? groups[0]?.next(() => true) ?? directId;
    },
    otherIdentity: (link, tried) => (ruleFor(link) ? undefined : nextUsable(siteOf(link), tried)),
    ownsIdentity,
    reportFailure: (proxy) => {
      const { count, excludedUntil } = failing.get(proxy) ?? { count: 0, excludedUntil: 0 };
      // Requests that were under way with the one that failed first.
      if (excludedUntil > Date.now()) return;
      const delayMs = getRetryDelay(count + 1, EXCLUSION);
      failing.set(proxy, { count: count + 1, excludedUntil: Date.now() + delayMs });
      if (count === 0)
        log.warn('Outgoing proxy failed, new resolves use the others', {
          proxy: positionOf(proxy),
          excludedSeconds: delayMs / 1000,
        });
    },
    reportSuccess: (proxy) => {
      if (failing.delete(proxy)) log.info('Outgoing proxy recovered', { proxy: positionOf(proxy) });
    },
    reportBlocked(link, id, minRestSeconds) {
      const site = siteOf(link);
      const rest = health.block(site, id, minRestSeconds);
      if (rest?.count === 1)
        log.warn('Site blocks an outgoing address', { site, address: nameOf(id), restSeconds: rest.restMs / 1000 });
    },
    reportServed(link, id) {
      const site = siteOf(link);
      if (health.recover(site, id)) log.info('Site serves an outgoing address again', { site, address: nameOf(id) });
    },
    blockedAddresses: () =>
      health.resting().map(({ site, identity, restSeconds }) => ({ site, address: nameOf(identity), restSeconds })),
    resolve: (id) => proxies.get(own(id)),
    sourceAddress: (id) => addresses.get(own(id)),
    proxies: [...proxies.values()],
  };
}

interface Turns {
  readonly ids: readonly string[];
  /** The next one in turn that is usable. */
  next(isUsable: (id: string) => boolean): string | undefined;
}

function createTurns(ids: readonly string[]): Turns {
  let index = 0;
  return {
    ids,
    next(isUsable) {
      for (let skipped = 0; skipped < ids.length; skipped++) {
        const id = ids[index++ % ids.length];
        if (id !== undefined && isUsable(id)) return id;
      }
      return undefined;
    },
  };
}

/** An id that reveals neither the address nor the credentials of a proxy. */
const identityOf = (url: string): string =>
  `proxy-${createHash('sha256').update(url).digest('base64url').slice(0, 12)}`;

function parseProxy(text: string, index: number): URL {
  const url = normalizeProxyUrl(text);
  if (url !== undefined) return new URL(url);
  throw new Error(
    `Outgoing proxy ${index + 1} is not an http://, https:// or socks5:// URL of host and port, credentials encoded`,
  );
}

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

interface AddressBlock {
  count: number;
  /** Epoch milliseconds. */
  restsUntil: number;
  isTested: boolean;
}

const REST = { initialDelayMs: 5 * 60_000, maxDelayMs: 6 * 3600_000 };
/** Longer than a resolve may take: a test without an outcome is followed by another one. */
const TEST_MS = 30_000;
const MAX_SITES = 256;

/** The outgoing identities that sites have blocked. A blocked one rests for the links of the site, then one link tests it. */
function createSiteHealth() {
  const sites = createCache<string, Map<string, AddressBlock>>({ maxEntries: MAX_SITES });
  const find = (site: string, identity: string) => sites.get(site)?.get(identity);

  return {
    /** Epoch milliseconds until which an identity rests for a site; 0: it does not. */
    restsUntil(site: string, identity: string): number {
      const { restsUntil = 0 } = find(site, identity) ?? {};
      return restsUntil > Date.now() ? restsUntil : 0;
    },
    /** To be called when a link is resolved through an identity: until the outcome is known, no other link tests it. */
    use(site: string, identity: string): void {
      const block = find(site, identity);
      if (!block || block.restsUntil > Date.now()) return;
      block.isTested = true;
      block.restsUntil = Date.now() + TEST_MS;
    },
    /**
     * Lets an identity rest, each time twice as long.
     * @param minRestSeconds as the site says
     * @returns how long, and how often in a row; undefined when it rests already
     */
    block(site: string, identity: string, minRestSeconds = 0) {
      const blocks = sites.get(site) ?? new Map<string, AddressBlock>();
      const block = blocks.get(identity) ?? { count: 0, restsUntil: 0, isTested: false };
      // Links that were under way with the one that was blocked first.
      if (block.restsUntil > Date.now() && !block.isTested) return undefined;
      const count = block.count + 1;
      const restMs = Math.min(Math.max(getRetryDelay(count, REST), minRestSeconds * 1000), REST.maxDelayMs);
      blocks.set(identity, { count, restsUntil: Date.now() + restMs, isTested: false });
      sites.set(site, blocks);
      return { restMs, count };
    },
    /** Whether the identity was blocked until now. */
    recover: (site: string, identity: string): boolean => sites.get(site)?.delete(identity) ?? false,
    /** Those that rest. */
    resting: () =>
      [...sites.keys()].flatMap((site) =>
        [...(sites.get(site) ?? [])].flatMap(([identity, { restsUntil }]) => {
          const restSeconds = Math.ceil((restsUntil - Date.now()) / 1000);
          return restSeconds > 0 ? [{ site, identity, restSeconds }] : [];
        }),
      ),
  };
}

/** Second-level labels under which countries register names: `co.uk`, `com.br`. */
const SHARED_LABEL = /^(?:ac|co|com|edu|gov|gob|go|mil|ne|net|nom|or|org)$/;

/** The registered domain of a link's host, as far as its labels tell; the host itself for an address. Empty for other text. */
export function siteOf(link: string): string {
  const host = URL.parse(link)?.hostname.replace(/\.$/, '') ?? '';
  if (host.startsWith('[') || isIP(host) !== 0) return host;
  const labels = host.split('.');
  const isShared = labels.at(-1)?.length === 2 && SHARED_LABEL.test(labels.at(-2) ?? '');
  return labels.slice(isShared ? -3 : -2).join('.');
}
