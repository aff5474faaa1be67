export { createLoopback, type Loopback, type LoopbackInput } from './ffmpeg-input-server.ts';
export { createRequireFfmpeg, type RequireFfmpeg } from './require-ffmpeg.ts';
export { FfmpegFailed, runFfmpeg } from './run-ffmpeg.ts';
