export { createEgress, openLoopbackProxy } from './create-egress.ts';
export type { Egress } from './egress.ts';
export { siteOf } from './site-health.ts';
