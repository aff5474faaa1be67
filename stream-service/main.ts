/** The stream service as one container runs it. */
import { readSettingsInAws } from '../core/config/index.ts';
import { createTaskLog, readTaskSettings, startTask } from './task/index.ts';

const log = createTaskLog(process.stdout);

function fail(error: unknown): never {
  log.error('The task cannot start', { error });
  process.exit(1);
}

async function start() {
  return startTask({
    settings: await readSettingsInAws(process.env),
    task: readTaskSettings(process.env),
    onIdle: () => leave('no stream has run for a while'),
    writeMetrics: (line) => process.stdout.write(`${line}\n`),
    log,
  });
}

const task = await start().catch(fail);
log.info('The task answers', { port: task.port });

async function leave(reason: string) {
  log.info('The task ends: running streams may finish', { reason });
  try {
    await task.close();
    process.exit(0);
  } catch (error) {
    log.error('The task did not end well', { error });
    process.exit(1);
  }
}

let signals = 0;
/** The first lets running streams finish within the drain time, the second does not wait for them. */
function onSignal(signal: NodeJS.Signals) {
  signals += 1;
  if (signals > 1) process.exit(1);
  void leave(signal);
}
process.on('SIGTERM', onSignal);
process.on('SIGINT', onSignal);
