export { createMux, type Mux } from './ffmpeg-muxer.ts';
export { COMBINED } from './mux-format.ts';
export { type MuxDependencies, openMux } from './open.ts';
export { type MuxPlan, planMux } from './plan.ts';
