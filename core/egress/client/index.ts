export { createGuardedClient } from './guarded-client.ts';
export { hasPausedReader } from './paused-reader.ts';
