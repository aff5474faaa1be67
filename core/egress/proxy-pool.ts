import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { createCache, getRetryDelay } from '@reelay/concurrency';
import { DIRECT } from '@reelay/guarded-fetch';
import { matchesSite, normalizeProxyUrl, type ProxyRule, parseProxyRule } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { expandAddresses, isDirect, type ProxyPool, type ProxyPoolOptions } from './outgoing-identities.ts';

/** Failures of one proxy since it last worked. */
interface Failures {
  count: number;
  /** Epoch milliseconds until which `next` leaves the proxy out. */
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
  const idsByPosition = urls.map(identityOf);
  const idOf = (target: ProxyRule['proxy']) => (target === 'direct' ? directId : idsByPosition[target - 1]);
  const siteRules = rules.map((text, index) => {
    const rule = parseProxyRule(text);
    const id = rule && idOf(rule.proxy);
    if (!rule || !id)
      throw new Error(`Proxy rule ${index + 1} is not host=position of an outgoing proxy or host=direct`);
    return { rule, id };
  });
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const addresses = new Map(expandAddresses(sourceAddresses).map((address) => [`address-${address}`, address]));
  const health = createSiteHealth();
  const reportedIds = new Set<string>();
  const failing = new Map<URL | undefined, Failures>();
  /** Proxies are used before source addresses. */
  const groups = [[...proxies.keys()], [...addresses.keys()]].filter((ids) => ids.length > 0).map(createTurns);
  if (groups.length === 0) groups.push(createTurns([directId]));
  const [firstGroup] = groups as [Turns];

  const fallbackFor = (id: string): string => {
    const { ids } = firstGroup;
    const fallback = ids[createHash('sha256').update(id).digest().readUInt32BE() % ids.length] as string;
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      log.warn('Outgoing address is no longer configured, using another one', { id, fallback });
    }
    return fallback;
  };
  const owns = (id: string): boolean => id === directId || proxies.has(id) || addresses.has(id);
  /** The id under which this process sends what a stored id names. */
  const own = (id: string): string => {
    if (owns(id)) return id;
    return isDirect(id) ? directId : fallbackFor(id);
  };

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

  /** Counted from 1, as in the error lines of the setting. */
  const positionOf = (proxy: URL) => [...proxies.values()].indexOf(proxy) + 1;
  const nameOf = (id: string): string => {
    const proxy = proxies.get(id);
    return proxy ? `proxy ${positionOf(proxy)}` : (addresses.get(id) ?? DIRECT);
  };

  return {
    next(link = '', preferred) {
      const named = ruleFor(link);
      if (named) return named;
      const site = siteOf(link);
      const wanted = preferred === undefined ? undefined : own(preferred);
      if (wanted !== undefined && !isFailing(wanted) && !health.restsUntil(site, wanted)) {
        health.use(site, wanted);
        return wanted;
      }
      return nextUsable(site) ?? firstToReturn(site) ?? firstGroup.next(() => true) ?? directId;
    },
    nextAfter: (link, tried) => (ruleFor(link) ? undefined : nextUsable(siteOf(link), tried)),
    owns,
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
    blocked: () =>
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

/** The outgoing identities that sites have blocked. A blocked one rests for the links of the site, then one link tests it. */
export interface SiteHealth {
  /** Epoch milliseconds until which an identity rests for a site; 0: it does not. */
  restsUntil(site: string, identity: string): number;
  /** To be called when a link is resolved through an identity: until the outcome is known, no other link tests it. */
  use(site: string, identity: string): void;
  /**
   * Lets an identity rest, each time twice as long.
   * @param minRestSeconds as the site says
   * @returns milliseconds; undefined when it rests already
   */
  block(site: string, identity: string, minRestSeconds?: number): Rest | undefined;
  /** Whether the identity was blocked until now. */
  recover(site: string, identity: string): boolean;
  /** Those that rest. */
  resting(): readonly RestingIdentity[];
}

interface Rest {
  readonly restMs: number;
  /** Consecutive ones. */
  readonly count: number;
}

export interface RestingIdentity {
  readonly site: string;
  readonly identity: string;
  readonly restSeconds: number;
}

interface Block {
  count: number;
  /** Epoch milliseconds. */
  restsUntil: number;
  isTested: boolean;
}

const REST = { initialDelayMs: 5 * 60_000, maxDelayMs: 6 * 3600_000 };
/** Longer than a resolve may take: a test without an outcome is followed by another one. */
const TEST_MS = 30_000;
const MAX_SITES = 256;

export function createSiteHealth(): SiteHealth {
  const sites = createCache<string, Map<string, Block>>({ maxEntries: MAX_SITES });
  const find = (site: string, identity: string) => sites.get(site)?.get(identity);

  return {
    restsUntil(site, identity) {
      const { restsUntil = 0 } = find(site, identity) ?? {};
      return restsUntil > Date.now() ? restsUntil : 0;
    },
    use(site, identity) {
      const block = find(site, identity);
      if (!block || block.restsUntil > Date.now()) return;
      block.isTested = true;
      block.restsUntil = Date.now() + TEST_MS;
    },
    block(site, identity, minRestSeconds = 0) {
      const blocks = sites.get(site) ?? new Map<string, Block>();
      const block = blocks.get(identity) ?? { count: 0, restsUntil: 0, isTested: false };
      // Links that were under way with the one that was blocked first.
      if (block.restsUntil > Date.now() && !block.isTested) return undefined;
      const count = block.count + 1;
      const restMs = Math.min(Math.max(getRetryDelay(count, REST), minRestSeconds * 1000), REST.maxDelayMs);
      blocks.set(identity, { count, restsUntil: Date.now() + restMs, isTested: false });
      sites.set(site, blocks);
      return { restMs, count };
    },
    recover: (site, identity) => sites.get(site)?.delete(identity) ?? false,
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
