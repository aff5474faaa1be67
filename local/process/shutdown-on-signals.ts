import { constants } from 'node:os';
import type { Terminal } from './terminal.ts';

const PARENT_CHECK_INTERVAL_MS = 1_000;

/**
 * Ends the process in order on SIGINT, SIGTERM and SIGHUP, and when the supervisor that started it has ended
 * (`local/supervisor.mjs`). The first signal lets running streams finish within the drain time, the second exits at once.
 */
export function shutdownOnSignals(terminal: Terminal, close: () => Promise<void>): void {
  let isShuttingDown = false;
  const shutDown = async () => {
    isShuttingDown = true;
    terminal.done();
    terminal.say('Shutting down after running streams finish; repeat to exit at once');
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (isShuttingDown) process.exit(128 + constants.signals[signal]);
      void shutDown();
    });
  whenSupervisorEnds(() => {
    if (!isShuttingDown) void shutDown();
  });
}

/** Its process id changes for another parent's when it was killed: without a supervisor, nothing would stop this process. */
function whenSupervisorEnds(callback: () => void): void {
  const supervisor = Number(process.env.REELAY_SUPERVISOR_PID);
  if (!supervisor) return;
  const timer = setInterval(() => {
    if (process.ppid === supervisor) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}
