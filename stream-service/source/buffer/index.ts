export { type AdaptiveParallelism, createAdaptiveParallelism } from './adaptive-parallelism.ts';
export { createEventLoopLoad, type EventLoopLoad } from './event-loop-load.ts';
export { createReadAheadBudgets, type ReadAheadBudget } from './read-ahead-budget.ts';
export { type FetchScheduler, type Filter, ReadAheadStream } from './read-ahead-stream.ts';
