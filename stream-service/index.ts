export { createStreamService, LISTEN_BACKLOG } from './create-stream-service.ts';
export { checkSandbox, type Sandbox } from './ffmpeg/index.ts';
export { collectWhenIdle } from './idle-collection.ts';
