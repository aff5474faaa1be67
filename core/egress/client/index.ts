export { createGuardedClient } from './guarded-client.ts';
export { appendChunk, discardResponse, hasPausedReader } from './response-body.ts';
