export type { ToolsOptions } from './create-installers.ts';
export { createTools } from './create-tools.ts';
