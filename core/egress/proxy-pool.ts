import { getRetryDelay } from '@reelay/concurrency';
import { DIRECT } from '@reelay/guarded-fetch';
import { matchesSite, type ProxyRule, parseProxyRule } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { createIdentities } from './identities.ts';
import type { ProxyPool, ProxyPoolOptions } from './outgoing-identities.ts';
import { createSiteHealth, siteOf } from './site-health.ts';

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
  const identities = createIdentities(urls, log, { sourceAddresses, directId });
  const { proxies, own, nameOf } = identities;
  const idOf = (target: ProxyRule['proxy']) => (target === 'direct' ? directId : identities.idsByPosition[target - 1]);
  const siteRules = rules.map((text, index) => {
    const rule = parseProxyRule(text);
    const id = rule && idOf(rule.proxy);
    if (!rule || !id)
      throw new Error(`Proxy rule ${index + 1} is not host=position of an outgoing proxy or host=direct`);
    return { rule, id };
  });
  const health = createSiteHealth();
  const failing = new Map<URL | undefined, Failures>();
  const groups = identities.groups.map(createTurns);
  const [firstGroup] = groups;

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
    next(link = '', preferred) {
      const named = ruleFor(link);
      if (named) return named;
      const site = siteOf(link);
      const wanted = preferred === undefined ? undefined : own(preferred);
      if (wanted !== undefined && !isFailing(wanted) && !health.restsUntil(site, wanted)) {
        health.use(site, wanted);
        return wanted;
      }
      return nextUsable(site) ?? firstToReturn(site) ?? firstGroup?.next(() => true) ?? directId;
    },
    nextAfter: (link, tried) => (ruleFor(link) ? undefined : nextUsable(siteOf(link), tried)),
    owns: identities.owns,
    reportFailure: (proxy) => {
      const { count, excludedUntil } = failing.get(proxy) ?? { count: 0, excludedUntil: 0 };
      // Requests that were under way with the one that failed first.
      if (excludedUntil > Date.now()) return;
      const delayMs = getRetryDelay(count + 1, EXCLUSION);
      failing.set(proxy, { count: count + 1, excludedUntil: Date.now() + delayMs });
      if (count === 0)
        log.warn('Outgoing proxy failed, new resolves use the others', {
          proxy: identities.positionOf(proxy),
          excludedSeconds: delayMs / 1000,
        });
    },
    reportSuccess: (proxy) => {
      if (failing.delete(proxy)) log.info('Outgoing proxy recovered', { proxy: identities.positionOf(proxy) });
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
    resolve: identities.resolve,
    sourceAddress: identities.sourceAddress,
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
