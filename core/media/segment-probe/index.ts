export { readBeginning } from './segment-probe.ts';
export type { Beginning } from './segment-start.ts';
