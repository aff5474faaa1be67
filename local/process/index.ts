export { listen } from './listen.ts';
export { createProcessLog } from './process-log.ts';
export { endAtSignals } from './shutdown-on-signals.ts';
export { createTerminal } from './terminal.ts';
