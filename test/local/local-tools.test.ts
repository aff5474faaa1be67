import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { silentLog } from '../../core/log/log.ts';
import { startService } from '../../local/service.ts';
import { createLocalTools } from '../../local/tools/local-tools.ts';
import { startOrigin } from '../origin/server.ts';
import { installedTools, otherYtDlp } from '../support/installed-tools.ts';
import { patchedYtDlp } from '../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryState } from '../support/temporary-state.ts';
import { addFfmpeg, addYtDlp } from '../support/tools-folder.ts';

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
  await expect.poll(() => identities).toEqual(['proxy-1']);
  await tools.close();
  expect(await ensured).toBeInstanceOf(Error);
});

it('resolves the canary links at the start, and a site goes to the installed release that resolves them', async () => {
  const dir = await temporaryFolder();
  const origin = await startOrigin();
  onTestFinished(origin.close);
  const toolsDir = join(dir, 'tools');
  await addYtDlp(toolsDir, patchedYtDlp((await installedTools()).ytDlp, origin.host));
  await addYtDlp(toolsDir, await otherYtDlp(), 'yt-dlp-nightly');
  await addFfmpeg(toolsDir);
  const warnings: [string, unknown?][] = [];
  const service = await startService({
    settings: readSettings({
      ...{ DATA_DIR: dir, PORT: '0', EGRESS_ALLOW: origin.host },
      CANARY_LINKS: origin.url('/files/clip.mp4'),
    }),
    hasPage: false,
    log: { ...silentLog, warn: (...warning) => void warnings.push(warning) },
  });
  onTestFinished(service.close);
  await service.ready;
  await expect
    .poll(() => warnings, { timeout: 100_000 })
    .toContainEqual([
      expect.stringMatching(/^Site fails with the default release/),
      expect.objectContaining({ site: '127.0.0.1' }),
    ]);
});
