export { createEgress, openLoopbackProxy } from './create-egress.ts';
export type { Egress, GuardedResponse } from './egress.ts';
export { receivedBytes } from './guard/index.ts';
