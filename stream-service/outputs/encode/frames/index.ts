export {
  audioEntity,
  clipLayout,
  type FrameEncoding,
  type FrameLayout,
  layoutBytes,
  sizedHead,
} from './frame-layout.ts';
export { createFrameStreams, type FrameInput, type FrameStreams } from './frame-streams.ts';
