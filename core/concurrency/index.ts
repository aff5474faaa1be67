export { abortable, type Deadline, deadlineSignal, waitAtMost } from './deadline.ts';
export { createFairSemaphore } from './fair-semaphore.ts';
export { createLruCache } from './lru-cache.ts';
export { getRetryDelay } from './retry-delay.ts';
export { createSemaphore, type Semaphore } from './semaphore.ts';
export { createShutdownStack, type ShutdownStack, startWithShutdown } from './shutdown.ts';
export { createSingleFlight } from './single-flight.ts';
export { createTtlCache } from './ttl-cache.ts';
