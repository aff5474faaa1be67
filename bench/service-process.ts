/** The service under measurement, in a process of its own: as `npm start`, plus the extractor of the bench's origin. */

import { readSettings } from '../core/config/settings.ts';
import { silentLog } from '../core/log/index.ts';
import { startService } from '../local/service/service.ts';
import { collectWhenIdle } from '../stream-service/index.ts';
import { PLUGIN_DIR } from './rivals.ts';

const settings = readSettings(process.env);
const service = await startService({ settings, log: silentLog, pluginDirs: [PLUGIN_DIR] });
await service.ready;
collectWhenIdle();
process.on('SIGTERM', async () => {
  await service.close();
  process.exit(0);
});
