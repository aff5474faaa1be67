export { createFfmpegInputServer, type FfmpegInput, type FfmpegInputServer } from './ffmpeg-input-server.ts';
export { createRequireFfmpeg, type RequireFfmpeg } from './require-ffmpeg.ts';
export { FfmpegFailed, runFfmpeg } from './run-ffmpeg.ts';
