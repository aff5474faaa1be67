export { createEgress } from './create-egress.ts';
export type { Egress, GuardedResponse } from './egress.ts';
export { openLoopbackProxy } from './loopback-proxy.ts';
