export {
  type AdaptiveParallelism,
  createAdaptiveParallelism,
  createEventLoopLoad,
  type EventLoopLoad,
} from './adaptive-parallelism.ts';
export { createReadAheadBudgets, type ReadAheadBudget } from './read-ahead-budget.ts';
export { type FetchScheduler, type Filter, ReadAheadStream } from './read-ahead-stream.ts';
