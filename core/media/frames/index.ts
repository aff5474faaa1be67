export { adtsUnits } from './adts-frames.ts';
export { type AuditedUnits, createFrameScanner, type FrameScanner } from './frame-scanner.ts';
export { mp4Units } from './mp4-fragments.ts';
export { mpegTsUnits } from './mpegts-packets.ts';
