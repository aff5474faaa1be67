export { type CopyDependencies, openCopy } from './open.ts';
export { type CopyPlan, planCopy } from './plan.ts';
