export { buildApp } from './app.ts';
export { MAX_HEADER_BYTES, respondToClientError } from './client-error.ts';
export { createStalledClients, giveWayTo } from './send-body.ts';
