// Preloaded into Node processes that tests start (crash-reports.ts). `?file=` is where it reports an uncaught exception.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
// Called before the listeners that log the exception and exit. An exception of a thread reaches its owner as an event.
if (isMainThread)
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    const what = error instanceof Error ? error.stack : String(error);
    appendFileSync(file, `${JSON.stringify(`${origin} in ${process.argv.slice(1).join(' ')}: ${what}`)}\n`);
  });
