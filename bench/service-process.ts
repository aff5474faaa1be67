/** The service under measurement, in a process of its own: as `npm start`, plus the extractor of the bench's origin. */

import { readSettings } from '../core/config/settings.ts';
import { silentLog } from '../core/log/log.ts';
import { startService } from '../local/service.ts';
import { PLUGIN_DIR } from './bench.ts';
import { logSteps } from './step-log.ts';

const service = await startService({
  settings: readSettings(process.env),
  log: silentLog,
  pluginDirs: [PLUGIN_DIR],
});
await service.ready;
const { STEP_LOG } = process.env;
if (STEP_LOG) logSteps(STEP_LOG);
process.on('SIGTERM', async () => {
  await service.close();
  process.exit(0);
});
