export { readStreamTypes, type SegmentStart } from './mpegts-probe.ts';
export { probeSegmentStart } from './segment-probe.ts';
