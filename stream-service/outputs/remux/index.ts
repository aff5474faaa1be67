export { openRemux, type RemuxDependencies } from './open.ts';
export { planRemux, type RemuxPlan } from './plan.ts';
