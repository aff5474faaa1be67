export { createEgress, openLoopbackProxy } from './create-egress.ts';
export type { BlockedAddress, Egress, GuardedResponse } from './egress.ts';
export { isPublicAddress, type Lookup, receivedBytes } from './guard/index.ts';
