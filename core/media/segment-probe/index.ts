export { probeSegmentStart } from './segment-probe.ts';
export type { SegmentStart } from './segment-start.ts';
