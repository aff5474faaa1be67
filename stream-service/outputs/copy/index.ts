export { type CopyDependencies, type CopyPlan, openCopy, planCopy } from './open.ts';
