import { expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { createState } from '../../core/state/create-state.ts';
import { createTableClient, ensureTable } from '../../core/state/table.ts';
import { startEmbeddedTable } from '../../local/embedded-table.ts';
import { createLocalTools } from '../../local/tools/local-tools.ts';
import { temporaryFolder } from '../layers/tools/temporary.ts';
import { installedTools } from '../support/installed-tools.ts';

it('fetches tools through the outgoing proxies: there may be no other way out', async () => {
  const dir = await temporaryFolder();
  const table = await startEmbeddedTable({ dir: `${dir}/table` });
  onTestFinished(() => table.close());
  const client = createTableClient({ endpoint: table.endpoint });
  await ensureTable(client, 'reelay');
  const { ffmpeg } = await installedTools();
  const identities: unknown[] = [];
  const tools = createLocalTools({
    settings: readSettings({ DATA_DIR: dir, FFMPEG_PATH: ffmpeg.path }),
    state: createState({ client, tableName: 'reelay' }),
    egress: {
      nextIdentity: () => 'proxy-1',
      request: async (_, options) => {
        identities.push(options?.identity);
        throw new Error('nothing is fetched here');
      },
    },
  });
  const ensured = tools.ensure().catch((error) => error);
  await expect.poll(() => identities, { timeout: 30_000 }).toEqual(['proxy-1']);
  await tools.close();
  expect(await ensured).toBeInstanceOf(Error);
});
