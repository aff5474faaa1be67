export { operationOf } from './metrics.ts';
export { openMetrics } from './open-metrics.ts';
