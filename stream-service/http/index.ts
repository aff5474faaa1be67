export { buildApp } from './app.ts';
export { answerUnreadable, MAX_HEADER_BYTES } from './client-error.ts';
export { createFindRendition } from './find-rendition.ts';
