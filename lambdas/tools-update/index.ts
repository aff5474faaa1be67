export { type CheckEvent, createCheckResolver } from './check-resolver.ts';
export { createToolsUpdate } from './create-tools-update.ts';
export { installMissingTools } from './install-missing-tools.ts';
export { type RollBackOutcome, rollBack } from './roll-back.ts';
export { readToolsEnvironment } from './tools-environment.ts';
export { createToolsLayer } from './tools-layer.ts';
export { createTryLayer } from './try-layer.ts';
export { type UpdateOutcome, updateTools } from './update-tools.ts';
