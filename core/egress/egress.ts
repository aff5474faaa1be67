import type { Readable } from 'node:stream';

/** The only way out. Every connection, on every hop, goes to an address that the guard admits (`address-guard.ts`). */
export interface Egress {
  /** An outgoing identity for a new resolve: `direct`, or one of the outgoing proxies in turn. */
  nextIdentity(): string;
  /** Makes one request. Redirects are followed here, each hop guarded. */
  request(url: string, options?: GuardedRequest): Promise<GuardedResponse>;
  /** A way through the loopback forward proxy for one child process, with credentials of its own. */
  openProxySession(options: ProxySessionOptions): Promise<ProxySession>;
  /** Ends every connection and the forward proxy. */
  close(): Promise<void>;
}

export interface GuardedRequest {
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** Asked at every hop, so that a redirect to another host takes no cookie and no credential along. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>;
  /** The outgoing identity, as `pick` gave it. @default 'direct' */
  readonly identity?: string;
  /** Hops followed before it fails. @default 10 */
  readonly maxRedirects?: number;
  /** Milliseconds without a byte, in headers or body, before it fails. @default 15_000 */
  readonly stallTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface GuardedResponse {
  readonly status: number;
  /** Lower-case names; repeated fields joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where it came from, after redirects. */
  readonly url: string;
  /** Destroy it when the rest is not wanted. */
  readonly body: Readable;
}

export interface ProxySessionOptions {
  readonly identity?: string;
  /** Bytes that may come back in all before its connections are cut. */
  readonly maxBytes?: number;
}

export interface ProxySession {
  /** `http://user:password@127.0.0.1:port`, good until `close`. */
  readonly proxyUrl: string;
  /** True when the guard refused an address that this child asked for. */
  readonly refused: () => boolean;
  readonly bytesReceived: () => number;
  /** Cuts what is still open and forgets the credentials. */
  close(): void;
}
