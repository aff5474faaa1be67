export { ToolUpdates } from './tool-updates.ts';
export { Tools } from './tools.ts';
