export { INSTALL_RETRY_INTERVAL, ToolUpdates } from './tool-updates.ts';
export { LIVE_ALIAS, Tools } from './tools.ts';
