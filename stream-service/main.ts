/** Entry point of the stream service's container. */
import { readSettingsInAws } from '../core/config/index.ts';
import { createTaskLog, readTaskSettings, startTask } from './task/index.ts';

const log = createTaskLog(process.stdout);

function fail(error: unknown): never {
  log.error('Task failed to start', { error });
  process.exit(1);
}

async function start() {
  return startTask({
    settings: await readSettingsInAws(process.env),
    task: readTaskSettings(process.env),
    onIdle: () => shutDown('idle'),
    writeMetrics: (line) => process.stdout.write(`${line}\n`),
    log,
  });
}

const task = await start().catch(fail);
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
/** The first signal lets running streams finish within the drain time, the second exits at once. */
function onSignal(signal: NodeJS.Signals) {
  signals += 1;
  if (signals > 1) process.exit(1);
  void shutDown(signal);
}
process.on('SIGTERM', onSignal);
process.on('SIGINT', onSignal);
