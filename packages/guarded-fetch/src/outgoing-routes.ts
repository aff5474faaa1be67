/** Which way connections leave: directly, from an address of this machine, or through a proxy. */
export interface OutgoingRoutes {
  /** The proxy of an identity, `http:`, `https:` or `socks5:`; undefined for a connection without one. */
  resolve(identity: string): URL | undefined;
  /** The source address of an identity; undefined: the system chooses it. */
  sourceAddress(identity: string): string | undefined;
  /** Connections through a proxy that is no longer among them end after their requests. */
  readonly proxies: readonly URL[];
  /** Called when a proxy cannot be reached or rejects its credentials, and not for a failure of the destination. */
  reportFailure(proxy: URL): void;
  /** Called when a proxy has connected to a destination. */
  reportSuccess(proxy: URL): void;
}

/** The identity of direct connections. */
export const DIRECT = 'direct';

/** Every connection is direct. */
export const DIRECT_ROUTES: OutgoingRoutes = {
  resolve: () => undefined,
  sourceAddress: () => undefined,
  proxies: [],
  reportFailure: () => undefined,
  reportSuccess: () => undefined,
};

/** Whether a proxy opens tunnels by SOCKS5 rather than HTTP. */
export const isSocks = (proxy: URL): boolean => proxy.protocol === 'socks5:';
