import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lendLoopback } from '../../layers/egress/index.ts';
import { findLayeredYtDlp, smokeTestYtDlp } from '../../layers/tools/index.ts';
import { createFunctionLog } from '../powertools/log.ts';
import { createTryLayer } from '../tools-update/try-layer.ts';

/** Where Lambda unpacks layers. */
const LAYERS = '/opt';

/** Says whether the yt-dlp of the layer it carries works. */
export const handler = createTryLayer({
  find: () => findLayeredYtDlp(LAYERS, join(tmpdir(), 'yt-dlp')),
  smokeTest: (ytDlp) => smokeTestYtDlp(ytDlp, { lend: lendLoopback }),
  log: createFunctionLog(),
});
