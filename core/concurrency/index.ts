export { abortable, type Deadline, deadlineSignal } from './deadline.ts';
export { createFairSemaphore } from './fair-semaphore.ts';
export { createSemaphore } from './semaphore.ts';
export { createShared } from './shared.ts';
export { createShutdownStack } from './shutdown.ts';
export { createSingleFlight } from './single-flight.ts';
export { createTtlCache } from './ttl-cache.ts';
