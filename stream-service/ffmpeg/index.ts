export { createFfmpegInputServer, type FfmpegInput, type FfmpegInputServer } from './ffmpeg-input-server.ts';
export { checkSandbox } from './process-limits.ts';
export { createRequireFfmpeg, FfmpegFailed, type RequireFfmpeg, runFfmpeg, runningFfmpegs } from './run-ffmpeg.ts';
export type { Sandbox } from './sandbox.ts';
