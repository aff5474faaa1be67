export { type CheckEvent, createCheckResolver, createTryLayer } from './check-release.ts';
export { createToolsUpdate } from './create-tools-update.ts';
export { installMissingTools, provideTools, removeTools, rollBack, updateTools } from './update-tools.ts';
