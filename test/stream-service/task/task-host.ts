import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../../infra/build/bundle.ts';
import { findOnPath } from '../../../packages/yt-dlp-worker/src/process/program.ts';
import { Container, startContainer } from '../../images/container.ts';
import type { Image } from '../../images/image.ts';
import { containersUnavailable } from '../../images/programs.ts';
import { streamImage } from '../../images/stream-image.ts';

/** Where tasks run: in their image, or where this machine cannot run containers, from their bundle. */
export interface TaskHost {
  /** Absent without containers. */
  readonly image?: Image;
  /** Starts a task with these variables besides those of the image. */
  start(env: Readonly<Record<string, string>>): Promise<Container>;
  /** Runs the image's health check. @returns its exit code */
  checkHealth(port: string): Promise<number | null>;
}

/** @param dir a folder for the files of the tasks, which all share one scratch folder */
export async function prepareTaskHost(dir: string): Promise<TaskHost> {
  const scratch = join(dir, 'scratch');
  await mkdir(scratch);
  return containersUnavailable ? bundleHost(dir, scratch) : imageHost(await streamImage(), scratch);
}

const imageHost = (image: Image, scratch: string): TaskHost => ({
  image,
  start: (env) => startContainer(image, { env, volumes: { '/scratch': scratch } }),
  async checkHealth(port) {
    const command = image.config.Healthcheck?.Test.slice(1) ?? [];
    const { ended } = await startContainer(image, { command, env: { PORT: port } });
    return ended;
  },
});

async function bundleHost(dir: string, scratch: string): Promise<TaskHost> {
  await bundle({ outDir: join(dir, 'dist'), only: ['stream-service'] });
  const ffmpeg = (await findOnPath('ffmpeg')) ?? '';
  const folders = { TOOLS_DIR: join(scratch, 'tools'), TMPDIR: scratch, DATA_DIR: scratch, HOME: scratch };
  const start = async (file: string, env: Readonly<Record<string, string>>) =>
    new Container(
      spawn(process.execPath, [join(dir, 'dist', 'stream-service', file)], {
        env: { ...folders, FFMPEG_PATH: ffmpeg, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  return {
    start: (env) => start('main.mjs', env),
    checkHealth: async (port) => (await start('health.mjs', { PORT: port })).ended,
  };
}
