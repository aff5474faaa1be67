export { type CheckEvent, createCheckResolver, createTryLayer } from './check-release.ts';
export { createToolsUpdate } from './create-tools-update.ts';
export { rollBack } from './roll-back.ts';
export { provideTools, removeTools } from './tools-layer.ts';
export { installMissingTools, updateTools } from './update-tools.ts';
