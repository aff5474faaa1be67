import { expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { createLocalTools } from '../../local/tools/local-tools.ts';
import { installedTools } from '../support/installed-tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryState } from '../support/temporary-state.ts';

it('fetches tools through the outgoing proxies: there may be no other way out', async () => {
  const dir = await temporaryFolder();
  const table = await openTemporaryState();
  onTestFinished(table.close);
  const { ffmpeg } = await installedTools();
  const identities: unknown[] = [];
  const tools = createLocalTools({
    settings: readSettings({ DATA_DIR: dir, FFMPEG_PATH: ffmpeg.path }),
    state: table.state,
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
