export { appendChunk, hasPausedReader } from './response-body.ts';
export { createGuardedClient } from './guarded-client.ts';
