export { probeSegmentStart } from './segment-probe.ts';
export type { SegmentStart } from './mpegts-probe.ts';
