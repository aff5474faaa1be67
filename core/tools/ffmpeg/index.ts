export { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from './ffmpeg-providers.ts';
export { type ImageArchitecture, installPinnedFfmpeg, PINNED_FFMPEG_PURL, pinnedFfmpegId } from './pinned-ffmpeg.ts';
