export { type DeploymentTarget, findStackNames, findTargets, type Manifest } from './cli-plan.ts';
export { readDeployedProfile } from './deployed-profile.ts';
