export { loadDotEnv } from './dot-env.ts';
export type { HostParts } from './host-parts.ts';
export { findFreePort, listen } from './listen.ts';
export { createProcessLog } from './process-log.ts';
export { shutdownOnSignals } from './shutdown-on-signals.ts';
export { createTerminal, type Terminal } from './terminal.ts';
