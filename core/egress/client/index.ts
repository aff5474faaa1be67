export { createGuardedClient } from './guarded-client.ts';
export { isResting } from './paused-reader.ts';
