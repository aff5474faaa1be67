export type { FrameEncoding } from './frame-encoding.ts';
export { createFrameStreams, type FrameInput, type FrameStreams } from './frame-streams.ts';
export { audioEntity, clipLayout, type Layout, layoutBytes, sizedHead } from './layout.ts';
