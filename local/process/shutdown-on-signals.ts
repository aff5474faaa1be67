import type { Terminal } from './terminal.ts';

/** The first signal lets running streams finish within the drain time, the second does not wait for them. */
export function shutdownOnSignals(terminal: Terminal, close: () => Promise<void>): void {
  let leaving = false;
  const leave = async () => {
    if (leaving) process.exit(1);
    leaving = true;
    terminal.say('Ending: running streams may finish; again to end at once');
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave);
}
