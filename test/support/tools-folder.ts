import { join } from 'node:path';
import { createVersionStore } from '../../layers/tools/install/version-store.ts';
import { installedTools } from './installed-tools.ts';

/** Creates a `TOOLS_DIR` with the real tools, as an installation leaves it: a service fetches nothing. */
export async function createToolsFolder(dir: string): Promise<string> {
  const { ytDlp } = await installedTools();
  const ytDlps = createVersionStore<typeof ytDlp>(join(dir, 'yt-dlp'), ({ command }) => command);
  await ytDlps.activate(await ytDlps.stage(), () => ytDlp);
  await addFfmpeg(dir);
  return dir;
}

/** Adds the real FFmpeg to a `TOOLS_DIR`. */
export async function addFfmpeg(dir: string): Promise<void> {
  const { ffmpeg } = await installedTools();
  const ffmpegs = createVersionStore<typeof ffmpeg>(join(dir, 'ffmpeg'), ({ path }) => [path]);
  await ffmpegs.activate(await ffmpegs.stage(), () => ffmpeg);
}
