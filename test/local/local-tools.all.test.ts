import { execFile } from 'node:child_process';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { createEgress } from '../../core/egress/create-egress.ts';
import { StateUnavailable } from '../../core/errors/index.ts';
import { createLocalTools, toToolsOptions } from '../../local/local-tools.ts';
import { startOrigin } from '../origin/server.ts';
import { installedTools } from '../support/installed-tools.ts';
import { patchedYtDlp } from '../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryState } from '../support/temporary-state.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

/** What tools of this machine are created with. */
const prepare = async (allow: readonly string[] = []) => {
  const table = await openTemporaryState();
  onTestFinished(table.close);
  const egress = createEgress({ allow });
  onTestFinished(egress.close);
  return { dir: await temporaryFolder(), table, egress, ...(await installedTools()) };
};

it('fetches tools through the outgoing proxies: there may be no other way out', async () => {
  const { dir, table, egress, ffmpeg } = await prepare();
  const identities: unknown[] = [];
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

it('has the tools although the table does not take what is written', async () => {
  const { dir, table, egress, ffmpeg } = await prepare();
  const toolsDir = await createToolsFolder(join(dir, 'tools'));
  await rm(join(toolsDir, 'ffmpeg'), { recursive: true });
  const fail = () => Promise.reject(new StateUnavailable('no table'));
  const tools = createLocalTools({
    settings: readSettings({ TOOLS_DIR: toolsDir, FFMPEG_PATH: ffmpeg.path, TOOLS_UPDATE_HOURS: '0' }),
    state: { ...table.state, putTools: fail, takeMaintenance: fail, endMaintenance: fail },
    egress,
  });
  expect(await tools.ensure()).toMatchObject({ ffmpeg: { path: ffmpeg.path, source: 'path' } });
  await tools.close();
});

it('names a check of the tools that takes long, to links and to App alike', async () => {
  const { dir, table, egress } = await prepare();
  const toolsDir = await createToolsFolder(join(dir, 'tools'));
  // A disk that is slow to answer: a pipe in place of the file.
  const pointer = join(toolsDir, 'yt-dlp', 'current');
  await rename(pointer, `${pointer}-kept`);
  await promisify(execFile)('mkfifo', [pointer]);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const tools = createLocalTools({
    settings: readSettings({ TOOLS_DIR: toolsDir, TOOLS_UPDATE_HOURS: '0' }),
    state: table.state,
    egress,
  });
  onTestFinished(tools.close);
  const waiting = tools.inPlace().catch((error) => error);
  const ensured = tools.ensure();
  await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 0 });
  vi.runAllTimers();
  expect(await waiting).toMatchObject({ name: 'InMaintenance', activity: 'Checking tools' });
  expect((await table.state.getMaintenance())?.activity).toBe('Checking tools');
  const pipe = await open(pointer, 'w');
  await rename(`${pointer}-kept`, pointer);
  await pipe.writeFile(await readFile(pointer));
  await pipe.close();
  await ensured;
  await tools.inPlace();
  expect(await table.state.getMaintenance()).toBeUndefined();
});

it('keeps a yt-dlp whose successor does not resolve the canary links, and resolves them with the operator settings', async () => {
  const origin = await startOrigin();
  onTestFinished(origin.close);
  const { dir, egress, ytDlp } = await prepare([origin.host]);
  const settings = readSettings({
    DATA_DIR: dir,
    CANARY_LINKS: `${origin.url('/files/clip.mp4')},${origin.url('/files/clip.mp4?2')}`,
  });
  const { checkUpdate } = toToolsOptions(settings, { egress });
  const { signal } = new AbortController();
  await checkUpdate(ytDlp, signal);
  await expect(checkUpdate(patchedYtDlp(ytDlp, origin.host), signal)).rejects.toThrow(
    `a canary link of ${origin.host} does not resolve`,
  );
});
