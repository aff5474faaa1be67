export { buildApp } from './app.ts';
export { MAX_HEADER_BYTES, respondToClientError } from './problem-reply.ts';
export { giveWayTo } from './send-body.ts';
export { createStalledClients } from './stalled-clients.ts';
