export { createLocalTools, type ToolsInPlace } from './local-tools.ts';
export { updateNow } from './update-now.ts';
