export { openRemux, planRemux, type RemuxDependencies, type RemuxPlan } from './open.ts';
