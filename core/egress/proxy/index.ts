export { createForwardProxy } from './forward-proxy.ts';
export { createProxyPool, DIRECT, type ProxyPool } from './proxy-pool.ts';
