/** The service that `npm run dev` restarts when its code changes: without the page, and without draining. */

import { readSettings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { shutdownOnSignals } from './process.ts';
import { startService } from './service/index.ts';
import { createProcessLog, createTerminal } from './terminal.ts';

const terminal = createTerminal(process.stdout);
const service = await startService({
  settings: readSettings(process.env),
  log: createProcessLog(process.stderr, terminal),
  onProgress: terminal.progress,
  onNotice: terminal.say,
  hasPage: false,
  drainSeconds: 0,
});
shutdownOnSignals(terminal, service.close);
terminal.say('API listening');
// The process stays without tools: the next change may be the fix.
const outcome = await service.ready.then(() => 'Tools ready', messageOf);
terminal.done();
terminal.say(outcome);
