export { createLocalTools, type ToolsInPlace } from './local-tools.ts';
export { toolsOptions } from './tools-options.ts';
export { updateNow } from './update-now.ts';
