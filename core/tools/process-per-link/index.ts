export { startLinkProcesses } from './link-processes.ts';
