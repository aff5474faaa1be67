export { buildApp } from './app.ts';
export { MAX_HEADER_BYTES, respondToClientError } from './client-error.ts';
export { createFindRendition } from './find-rendition.ts';
export { createStalledClients } from './stalled-clients.ts';
