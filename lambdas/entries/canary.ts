import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress } from '../../layers/egress/index.ts';
import { findLayeredYtDlp, smokeTestYtDlp } from '../../layers/tools/index.ts';
import { createFunctionLog } from '../powertools/log.ts';
import { createTryLayer } from '../tools-update/try-layer.ts';

/** Where Lambda unpacks layers. */
const LAYERS = '/opt';

/** Says whether the yt-dlp of the layer it carries works. */
export const handler = createTryLayer({
  find: () => findLayeredYtDlp(LAYERS, join(tmpdir(), 'yt-dlp')),
  smokeTest: (ytDlp) => smokeTestYtDlp(ytDlp, { lend }),
  log: createFunctionLog(),
});

/** A way out that admits the smoke test's own server, and nothing else. */
async function lend(host: string) {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.lend({});
  return { proxyUrl, close: egress.close };
}
