export { createMux, type Mux } from './ffmpeg/index.ts';
export { COMBINED, combinedPlan, OGG, oggPlan, remuxPlan } from './mux-plan.ts';
export { type MuxDependencies, openMux } from './open.ts';
export { type MuxPlan, planMux } from './plan.ts';
