export { createApiThrottle } from './api-throttle.ts';
export { createConcurrencyLimit } from './concurrency-limit.ts';
export { CLOSED_KEY, createEdgeFlag } from './edge-flag.ts';
export { createCostGuard, type GuardEvent, type GuardReport } from './guard.ts';
export { createMetricReader } from './metric-reader.ts';
export { type AwsCall, createAwsCall, createQueryApi } from './query-api.ts';
