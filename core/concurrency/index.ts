export { abortable, type Bounds, inTime } from './deadline.ts';
export { createFairTurns } from './fair-semaphore.ts';
export { createTurns } from './semaphore.ts';
export { createShared } from './shared.ts';
export { createEnding } from './shutdown.ts';
export { createSingleFlight } from './single-flight.ts';
export { createRecent } from './ttl-cache.ts';
