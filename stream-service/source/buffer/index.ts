export {
  type AdaptiveParallelism,
  createAdaptiveParallelism,
  createEventLoopLoad,
  createReadAheadBudgets,
  type EventLoopLoad,
  type ReadAheadBudget,
} from './read-ahead-limits.ts';
export { type FetchScheduler, type Filter, ReadAheadStream } from './read-ahead-stream.ts';
