import pino from 'pino';
import { readSettingsInAws } from '../../core/config/index.ts';
import { logThrough } from '../../core/log/index.ts';
import { readTaskSettings, startTask } from './start-task.ts';

/**
 * Runs the stream service as the program of this process until a signal ends it: the first lets running streams finish
 * within the drain time, the second exits at once. Exits with 1 when the service cannot start.
 */
export async function runTask(): Promise<void> {
  // One JSON line per event.
  const log = logThrough(
    pino(
      {
        base: undefined,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (level) => ({ level }) },
      },
      process.stdout,
    ),
  );

  const start = async () => {
    const environment = process.env;
    return startTask({
      settings: await readSettingsInAws(environment),
      task: readTaskSettings(environment),
      environment,
      onIdle: () => shutDown('idle'),
      writeMetrics: (line) => process.stdout.write(`${line}\n`),
      log,
    });
  };
  const task = await start().catch((error: unknown) => {
    log.error('Task failed to start', { error });
    process.exit(1);
  });
  log.info('Task listening', { port: task.port });

  async function shutDown(reason: string) {
    log.info('Task shutting down', { reason });
    try {
      await task.close();
      process.exit(0);
    } catch (error) {
      log.error('Task shutdown failed', { error });
      process.exit(1);
    }
  }

  let signals = 0;
  function onSignal(signal: NodeJS.Signals) {
    signals += 1;
    if (signals > 1) process.exit(1);
    void shutDown(signal);
  }
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
