import type { Readable } from 'node:stream';

/**
 * Connections to addresses that links, sources and releases name. Each, on every hop, goes to an address that the guard admits
 * (`address-guard.ts`).
 */
export interface Egress {
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
  /**
   * Sends a request and follows redirects, each hop guarded. Resolves with the head; the body streams.
   * @throws EgressRefused, UpstreamError; the signal's reason when it is aborted
   */
  request(url: string, options?: GuardedRequest): Promise<GuardedResponse>;
  /** Opens the loopback forward proxy for one child process, with credentials of its own. @throws UpstreamError once closed */
  openProxySession(options: ProxySessionOptions): Promise<ProxySession>;
  /** Closes every connection and the forward proxy. */
  close(): Promise<void>;
}

/** An outgoing address that rests for a site. */
export interface BlockedAddress {
  readonly site: string;
  /** `proxy N` by its position from 1, a source address, or `direct`. */
  readonly address: string;
  readonly restSeconds: number;
}

/** Options of one request. */
export interface GuardedRequest {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for every hop, so that a redirect to another host carries no cookie and no credential. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>;
  /** An outgoing identity from `nextIdentity`. @default 'direct' */
  readonly identity?: string;
  /** 0: a redirect is the response. @default 10 */
  readonly maxRedirects?: number;
  /** Maximum time without a byte of the response, in the head or in the body; 0: unlimited. @default 15_000 */
  readonly stallTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /**
   * Decodes a body that the source has compressed, although `identity` was asked for. For what is read from its start and within
   * a bound: offsets count the decoded bytes. @default false
   */
  readonly isDecoded?: boolean;
}

/** The head of a response, and its body as a stream. */
export interface GuardedResponse {
  readonly status: number;
  /** Lower-case names; repeated fields joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body was compressed: its headers tell nothing of its length. */
  readonly wasDecoded?: true;
  /** The final URL, after redirects. */
  readonly url: string;
  /** To be read to its end or destroyed. */
  readonly body: Readable;
}

/** Options of one proxy session. */
export interface ProxySessionOptions {
  readonly identity?: string;
  /** Total response bytes after which its connections are closed. @default unlimited */
  readonly maxBytes?: number;
}

/** Access to the forward proxy for one child process. */
export interface ProxySession {
  /** `http://user:password@127.0.0.1:port`, valid until `close`. */
  readonly proxyUrl: string;
  /** True after the guard has refused an address to this child. */
  readonly refused: () => boolean;
  readonly bytesReceived: () => number;
  /** Closes open connections and revokes the credentials. */
  close(): void;
}
