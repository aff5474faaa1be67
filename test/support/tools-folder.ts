import { join } from 'node:path';
import { createVersionStore } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { installedTools } from './installed-tools.ts';

/**
 * Creates a `TOOLS_DIR` with the real tools, as an installation leaves it: a service fetches nothing.
 * @param ytDlp @default that of `installedTools`
 */
export async function createToolsFolder(dir: string, ytDlp?: YtDlp): Promise<string> {
  const ytDlps = createVersionStore<YtDlp>(join(dir, 'yt-dlp'), ({ command }) => command);
  const tool = ytDlp ?? (await installedTools()).ytDlp;
  await ytDlps.activate(await ytDlps.stage(), () => tool);
  await addFfmpeg(dir);
  return dir;
}

/** Adds the real FFmpeg to a `TOOLS_DIR`. */
export async function addFfmpeg(dir: string): Promise<void> {
  const { ffmpeg } = await installedTools();
  const ffmpegs = createVersionStore<typeof ffmpeg>(join(dir, 'ffmpeg'), ({ path }) => [path]);
  await ffmpegs.activate(await ffmpegs.stage(), () => ffmpeg);
}
