export { createForwardProxy } from './forward-proxy.ts';
export { createProxyPool, DIRECT, isSocks, type ProxyPool } from './proxy-pool.ts';
export { openPoolTunnel } from './socks-tunnel.ts';
