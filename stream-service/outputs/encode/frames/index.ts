export { mp3Encoding, WAV_ENCODING } from './frame-encoding.ts';
export { createFrameStreams, type FrameStreams, type FrameStreamsOptions } from './frame-streams.ts';
export { audioEntity, clipLayout, sizedHead } from './head.ts';
export { type Layout, layoutBytes, promisedFrames } from './layout.ts';
