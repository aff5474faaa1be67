/** `npm run update-tools`: updates the tools now, whether or not the service is running. */

import { readSettings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { updateNow } from './local-tools.ts';
import { loadDotEnv } from './process.ts';
import { createTerminal } from './terminal.ts';

const terminal = createTerminal(process.stdout);
const aborting = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => aborting.abort(new Error('Interrupted: the installed tools are unchanged')));
}

try {
  loadDotEnv();
  const { inPlace, failures } = await updateNow({
    settings: readSettings(process.env),
    onProgress: terminal.progress,
    signal: aborting.signal,
  });
  terminal.done();
  for (const line of [...inPlace, ...failures]) terminal.say(line);
  process.exitCode = failures.length > 0 ? 1 : 0;
} catch (error) {
  const reason = aborting.signal.aborted ? aborting.signal.reason : error;
  terminal.done();
  terminal.say(messageOf(reason));
  process.exitCode = 1;
}
