/** `npm run update-tools`: looks for newer tools now, whether or not the service runs beside it. */
import { readSettings } from '../core/config/index.ts';
import { createTerminal } from './process/index.ts';
import { updateNow } from './tools/index.ts';

const terminal = createTerminal(process.stdout);
const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => leaving.abort(new Error('Ended before it was done: what was in place stays')));
}

try {
  const { inPlace, failures } = await updateNow({
    settings: readSettings(process.env),
    onProgress: ({ name, bytes, totalBytes }) => terminal.progress(name, bytes, totalBytes),
    signal: leaving.signal,
  });
  for (const line of [...inPlace, ...failures]) terminal.say(line);
  process.exitCode = failures.length > 0 ? 1 : 0;
} catch (error) {
  const reason = leaving.signal.aborted ? leaving.signal.reason : error;
  terminal.say(reason instanceof Error ? reason.message : String(reason));
  process.exitCode = 1;
}
