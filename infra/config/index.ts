export type { Deployment } from './deployment.ts';
export { type Profile, profileOf, profiles, TASK_TARGETS } from './profiles.ts';
export { hasBudgets } from './regions.ts';
export {
  CLOUDFRONT_REGION,
  checkPlace,
  type DeploymentSettings,
  firewallStackNameOf,
  readContext,
  stackNameOf,
} from './settings.ts';
