export { createTools } from './create-tools.ts';
export type { ToolsOptions } from './tools-options.ts';
