export { openCopy } from './open.ts';
export { type CopyPlan, planCopy } from './plan.ts';
