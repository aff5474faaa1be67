export { createMp3 } from './create-mp3.ts';
export { mp3Entity, mp3Etag } from './etag.ts';
export { layoutBytes, promisedFrames } from './layout.ts';
