export { appendChunk } from './append-chunk.ts';
export { createGuardedClient } from './guarded-client.ts';
export { hasPausedReader } from './response-body.ts';
