import type { Terminal } from './terminal.ts';

/** The first signal lets running streams finish within the drain time, the second exits at once. */
export function shutdownOnSignals(terminal: Terminal, close: () => Promise<void>): void {
  let isShuttingDown = false;
  const shutDown = async () => {
    if (isShuttingDown) process.exit(1);
    isShuttingDown = true;
    terminal.say('Shutting down after running streams finish; repeat to exit at once');
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, shutDown);
}
