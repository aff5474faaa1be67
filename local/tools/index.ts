export { createLocalTools, type ToolsInPlace, toToolsOptions } from './local-tools.ts';
export { updateNow } from './update-now.ts';
