export { INSTALL_RETRY_INTERVAL, ToolUpdates } from './tool-updates.ts';
export { Tools } from './tools.ts';
