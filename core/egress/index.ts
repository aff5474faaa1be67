export { createEgress, type Egress, openLoopbackProxy } from './create-egress.ts';
export { siteOf } from './proxy-pool.ts';
