export { createForwardProxy } from './forward-proxy.ts';
export { createReplaceablePool, DIRECT, type ProxyPool } from './outgoing-identities.ts';
export { createProxyPool, isSocks } from './proxy-pool.ts';
export { openPoolTunnel } from './socks-tunnel.ts';
