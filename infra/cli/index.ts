export { type DeploymentTarget, findStackNames, findTargets, type Manifest } from './cli-plan.ts';
export { findContainerProblem } from './container-runtime.ts';
export { askCostGuard, readDeployedSettings } from './deployed-settings.ts';
