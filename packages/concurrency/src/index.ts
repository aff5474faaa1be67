export { type Cache, createCache, createSingleFlight } from './cache.ts';
export { createRateLimit, createSemaphore, type Permit, type Semaphore } from './limits.ts';
export { createShutdownStack, type ShutdownStack, startWithShutdown } from './shutdown.ts';
export {
  abortable,
  collectInSlices,
  createSlices,
  type Deadline,
  deadlineSignal,
  getRetryDelay,
  ownTurn,
  waitAtMost,
  withRetries,
} from './timing.ts';
