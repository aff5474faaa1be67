export { createStreamService, LISTEN_BACKLOG } from './create-stream-service.ts';
export { checkSandbox } from './ffmpeg/index.ts';
export { collectWhenIdle } from './idle-collection.ts';
