export { type Cache, createCache } from './cache.ts';
export { abortable, type Deadline, deadlineSignal, waitAtMost } from './deadline.ts';
export { createRateLimit, type RateLimit } from './rate-limit.ts';
export { getRetryDelay } from './retry-delay.ts';
export { createSemaphore, type Permit } from './semaphore.ts';
export { createShutdownStack, type ShutdownStack, startWithShutdown } from './shutdown.ts';
export { createSingleFlight } from './single-flight.ts';
export { collectInSlices, createSlices, ownTurn } from './slices.ts';
