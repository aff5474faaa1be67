export { type DeploymentTarget, findStackNames, findTargets, type Manifest } from './cli-plan.ts';
export { readDeployedSettings } from './deployed-settings.ts';
