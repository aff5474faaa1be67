import { isIP } from 'node:net';
import { createCache, getRetryDelay } from '@reelay/concurrency';

/** The outgoing identities that sites have blocked. A blocked one rests for the links of the site, then one link tests it. */
interface SiteHealth {
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

interface RestingIdentity {
  readonly site: string;
  readonly identity: string;
  readonly restSeconds: number;
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

export function createSiteHealth(): SiteHealth {
  const sites = createCache<string, Map<string, AddressBlock>>({ maxEntries: MAX_SITES });
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
