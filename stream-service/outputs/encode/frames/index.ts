export type { FrameEncoding } from './frame-encoding.ts';
export { createFrameStreams, type FrameStreams } from './frame-streams.ts';
export { audioEntity, clipLayout, sizedHead } from './head.ts';
export { type Layout, layoutBytes } from './layout.ts';
