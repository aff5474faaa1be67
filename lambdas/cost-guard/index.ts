export { createApiThrottle } from './api-throttle.ts';
export { type AwsCall, createAwsCall, query } from './aws-call.ts';
export { createConcurrencyLimit, createReservation } from './concurrency-limit.ts';
export { createEdgeSwitch, createFirewallSwitch } from './edge-switch.ts';
export { CLOSED_KEY, createCostGuard } from './guard.ts';
export { createHostLimit } from './host-limit.ts';
export { createMetricReader } from './metric-reader.ts';
