export { audioEntity } from './etag.ts';
export { mp3Encoding, WAV_ENCODING } from './frame-encoding.ts';
export { createFrameStreams, type FrameStreams, type FrameStreamsOptions } from './frame-streams.ts';
export { type Layout, layoutBytes, promisedFrames } from './layout.ts';
export { clipLayout, sizedHead } from './sized-head.ts';
