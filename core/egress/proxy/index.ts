export { createForwardProxy } from './forward-proxy.ts';
export { createIdentities, DIRECT, type Identities } from './proxy-pool.ts';
