export { createStreamService, LISTEN_BACKLOG } from './create-stream-service.ts';
