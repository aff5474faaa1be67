export { type ConnectionCount, createConnectionCount } from './adaptive-parallelism.ts';
export { createGauge, type Gauge } from './event-loop-load.ts';
export { type AheadPool, createAheadPool } from './read-ahead-budget.ts';
export { type Filter, OrderedStream, type Supply } from './read-ahead-stream.ts';
