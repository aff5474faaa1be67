import { constants } from 'node:os';
import type { Terminal } from './terminal.ts';

const PARENT_CHECK_INTERVAL_MS = 1_000;
/** A signal to all processes of a terminal or unit arrives again from npm and the supervisor, which pass on theirs. */
const REPETITION_MS = 1_000;

/**
 * Ends the process in order on SIGINT, SIGTERM and SIGHUP, and when the supervisor that started it has ended
 * (`local/supervisor.mjs`). The first signal lets running streams finish within the drain time, another one a second later exits at
 * once.
 */
export function shutdownOnSignals(terminal: Terminal, close: () => Promise<void>): void {
  let startedAt: number | undefined;
  const shutDown = async () => {
    startedAt = performance.now();
    terminal.done();
    terminal.say('Shutting down after running streams finish; repeat to exit at once');
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (startedAt === undefined) void shutDown();
      else if (performance.now() - startedAt > REPETITION_MS) process.exit(128 + constants.signals[signal]);
    });
  whenSupervisorEnds(() => {
    if (startedAt === undefined) void shutDown();
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
