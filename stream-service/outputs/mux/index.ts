export { COMBINED, combinedPlan, remuxPlan } from './mux-plan.ts';
