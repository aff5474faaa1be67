export { createGuardedClient } from './guarded-client.ts';
export { appendChunk, hasPausedReader } from './response-body.ts';
