export { openMetrics } from './open-metrics.ts';
export { operationOf } from './operation-of.ts';
