/** The service under measurement, in a process of its own: as `npm start`, plus the extractor of the bench's origin. */

import { renameSync } from 'node:fs';
import { writeHeapSnapshot } from 'node:v8';
import { readSettings } from '../core/config/settings.ts';
import { silentLog } from '../core/log/log.ts';
import { startService } from '../local/service.ts';
import { collectWhenIdle } from '../stream-service/index.ts';
import { PLUGIN_DIR } from './bench.ts';

const { HEAP_SNAPSHOT, NAMES_ADDRESS: address } = process.env;
const service = await startService({
  settings: readSettings(process.env),
  log: silentLog,
  pluginDirs: [PLUGIN_DIR],
  ...(address && { lookup: async () => [{ address, family: 4 }] }),
});
await service.ready;
collectWhenIdle();
// Under its name once it is complete.
if (HEAP_SNAPSHOT)
  process.on('SIGUSR2', () => renameSync(writeHeapSnapshot(`${HEAP_SNAPSHOT}.partial`), HEAP_SNAPSHOT));
process.on('SIGTERM', async () => {
  await service.close();
  process.exit(0);
});
