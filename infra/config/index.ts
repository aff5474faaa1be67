export type { Deployment } from './deployment.ts';
export { type Profile, profileOf, profiles, TASK_TARGETS } from './profiles.ts';
export { hasBudgets } from './regions.ts';
export { checkPlace, type DeploymentSettings, type ProfileName, readContext } from './settings.ts';
