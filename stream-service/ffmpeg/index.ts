export { createFfmpegInputServer, type FfmpegInput, type FfmpegInputServer } from './ffmpeg-input-server.ts';
export { createRequireFfmpeg, FfmpegFailed, type RequireFfmpeg, runFfmpeg, runningFfmpegs } from './run-ffmpeg.ts';
export { checkSandbox } from './sandbox.ts';
