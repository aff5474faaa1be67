export { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from './ffmpeg-providers.ts';
export { type ImageArchitecture, installPinnedFfmpeg, pinnedFfmpegId } from './pinned-ffmpeg.ts';
