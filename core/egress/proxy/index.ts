export { createForwardProxy } from './forward-proxy.ts';
export { createProxyPool, DIRECT, isSocks, type ProxyPool } from './proxy-pool.ts';
export { openSocksTunnel } from './socks-tunnel.ts';
