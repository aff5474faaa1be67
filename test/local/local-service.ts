import { join } from 'node:path';
import { readSettings } from '../../core/config/settings.ts';
import { silentLog } from '../../core/log/index.ts';
import { type ServiceOptions, startService } from '../../local/service/service.ts';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

interface LocalOptions extends Omit<Partial<ServiceOptions>, 'settings'> {
  /** Variables of the environment beside those that every test needs. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A service in this process with the tools of the tests, and the origin that it may read, for the tests of a file. */
export async function startLocal({ settings = {}, ...options }: LocalOptions = {}) {
  const root = await temporaryFolder();
  const origin = closeAfterwards(await startOrigin());
  const toolsDir = await createToolsFolder(join(root, 'tools'));
  const environment = { DATA_DIR: join(root, 'data'), TOOLS_DIR: toolsDir, PORT: '0', TOOLS_UPDATE_HOURS: '0' };
  const read = readSettings({ ...environment, EGRESS_ALLOW: origin.host, ...settings });
  const service = closeAfterwards(await startService({ settings: read, log: silentLog, hasPage: false, ...options }));
  await service.ready;
  return { service, origin, root, toolsDir };
}

/** A path of the API for a link. */
export const pathTo = (name: string, link: string) => `/api/${name}?${new URLSearchParams({ url: link })}`;

export const BASE = '/media/reelay';

/** A service with its page below BASE, behind one proxy. */
export const startBehindProxy = () =>
  startLocal({
    hasPage: true,
    settings: {
      TRUSTED_PROXIES: '1',
      PROXY_ADDRESSES: '127.0.0.1',
      USER_HEADER: 'Remote-User',
      MAX_STREAMS_PER_CLIENT: '1',
      BASE_PATH: BASE,
    },
  });
