export { createAdtsCheck } from './adts-frames.ts';
export { createFrameScanner, type FrameCheck, type FrameScanner } from './frame-scanner.ts';
export { createMp4Check } from './mp4-fragments.ts';
export { createMpegTsCheck } from './mpegts-packets.ts';
