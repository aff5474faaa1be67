export { type CheckEvent, createCheckResolver, createTryLayer } from './check-release.ts';
export { createToolsUpdate } from './create-tools-update.ts';
export { type RollBackOutcome, rollBack } from './roll-back.ts';
export { readToolsEnvironment } from './tools-environment.ts';
export { createToolsLayer } from './tools-layer.ts';
export { installMissingTools, type UpdateOutcome, updateTools } from './update-tools.ts';
