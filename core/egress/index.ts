export { createEgress } from './create-egress.ts';
export { type Egress, EgressRefused, type GuardedResponse, UpstreamError } from './egress.ts';
export { openLoopbackProxy } from './loopback-proxy.ts';
