import type { GuardedFetch } from '@reelay/guarded-fetch';

/**
 * Connections to addresses that links, sources and releases name. Each, on every hop, goes to an address that the guard admits,
 * that of `packages/guarded-fetch`.
 */
export interface Egress extends GuardedFetch {
  /**
   * The outgoing identity for a new resolve: of the proxy that the rules name for the link; else `preferred`, else of the next
   * proxy or source address in turn that the site of the link has not blocked; `direct` where neither is configured.
   */
  nextIdentity(link?: string, preferred?: string): string;
  /** Another identity for a link whose site has blocked those that were tried; undefined when none is left. */
  otherIdentity(link: string, tried: ReadonlySet<string>): string | undefined;
  /** Whether an identity is one of this process, so that URLs that are bound to it may be requested. */
  ownsIdentity(identity: string): boolean;
  /**
   * To be called when the site of a link has blocked an identity rather than the link: new resolves of the site leave it
   * out for a while, each time twice as long.
   * @param minRestSeconds as the site says
   */
  reportBlocked(link: string, identity: string, minRestSeconds?: number): void;
  /** To be called when the site of a link has served an identity. */
  reportServed(link: string, identity: string): void;
  /** The outgoing addresses that sites have blocked at present. */
  blockedAddresses(): readonly BlockedAddress[];
  /**
   * Replaces the configured proxies. Requests under way end through the former ones.
   * @throws Error as `createEgress` does for an invalid one or for a rule without its proxy: the former ones stay
   */
  replaceProxies(urls: readonly string[]): void;
}

/** An outgoing address that rests for a site. */
export interface BlockedAddress {
  readonly site: string;
  /** `proxy N` by its position from 1, a source address, or `direct`. */
  readonly address: string;
  readonly restSeconds: number;
}
