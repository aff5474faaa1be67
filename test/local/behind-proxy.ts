import { join } from 'node:path';
import { readSettings } from '../../core/config/settings.ts';
import { startService } from '../../local/service/service.ts';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

export const BASE = '/media/reelay';

/** A service below BASE, behind one proxy, and the origin that it may read. */
export async function startBehindProxy() {
  const root = await temporaryFolder();
  const origin = closeAfterwards(await startOrigin());
  const service = closeAfterwards(
    await startService({
      settings: readSettings({
        DATA_DIR: join(root, 'data'),
        TOOLS_DIR: await createToolsFolder(join(root, 'tools')),
        PORT: '0',
        TOOLS_CHANNEL: 'stable',
        EGRESS_ALLOW: origin.host,
        TRUSTED_PROXIES: '1',
        PROXY_ADDRESSES: '127.0.0.1',
        USER_HEADER: 'Remote-User',
        MAX_STREAMS_PER_CLIENT: '1',
        BASE_PATH: BASE,
      }),
    }),
  );
  await service.ready;
  return { service, origin, root };
}

/** A path of the API for a link. */
export const pathTo = (name: string, link: string) => `/api/${name}?${new URLSearchParams({ url: link })}`;
