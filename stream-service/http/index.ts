export { buildApp } from './app.ts';
export { MAX_HEADER_BYTES, respondToClientError } from './problem-reply.ts';
export { createStalledClients, giveWayTo } from './send-body.ts';
