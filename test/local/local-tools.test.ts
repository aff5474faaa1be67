import { expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { createEgress } from '../../core/egress/create-egress.ts';
import { createLocalTools, toToolsOptions } from '../../local/tools/local-tools.ts';
import { startOrigin } from '../origin/server.ts';
import { installedTools } from '../support/installed-tools.ts';
import { patchedYtDlp } from '../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryState } from '../support/temporary-state.ts';

it('fetches tools through the outgoing proxies: there may be no other way out', async () => {
  const dir = await temporaryFolder();
  const table = await openTemporaryState();
  onTestFinished(table.close);
  const { ffmpeg } = await installedTools();
  const identities: unknown[] = [];
  const egress = createEgress({ allow: [] });
  onTestFinished(egress.close);
  const tools = createLocalTools({
    settings: readSettings({ DATA_DIR: dir, FFMPEG_PATH: ffmpeg.path }),
    state: table.state,
    egress: {
      ...egress,
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

it('keeps a yt-dlp whose successor does not resolve the canary links, and resolves them with the operator settings', async () => {
  const origin = await startOrigin();
  onTestFinished(origin.close);
  const egress = createEgress({ allow: [origin.host] });
  onTestFinished(egress.close);
  const settings = readSettings({
    DATA_DIR: await temporaryFolder(),
    CANARY_LINKS: `${origin.url('/files/clip.mp4')},${origin.url('/files/clip.mp4?2')}`,
  });
  const { checkUpdate } = toToolsOptions(settings, { egress });
  const { ytDlp } = await installedTools();
  const { signal } = new AbortController();
  await checkUpdate(ytDlp, signal);
  await expect(checkUpdate(patchedYtDlp(ytDlp, origin.host), signal)).rejects.toThrow(
    `a canary link of ${origin.host} does not resolve`,
  );
});
