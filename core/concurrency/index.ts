export { createLruCache, createTtlCache } from './cache.ts';
export { abortable, type Deadline, deadlineSignal, waitAtMost } from './deadline.ts';
export { getRetryDelay } from './retry-delay.ts';
export { createFairSemaphore, createSemaphore, type Semaphore } from './semaphore.ts';
export { createShutdownStack, type ShutdownStack, startWithShutdown } from './shutdown.ts';
export { createSingleFlight } from './single-flight.ts';
