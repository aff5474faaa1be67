import { access, chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findOnPath, findPython } from '../process/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { Ffmpeg, ToolSource } from '../tools.ts';
import { inspectFfmpeg } from './ffmpeg-check.ts';

/** The FFmpeg that the operator names. */
export const ffmpegAtPath = (path: string): ToolProvider<Ffmpeg> =>
  inPlace('path', `the path ${path}`, async () => path);

/** The FFmpeg that the system has. */
export const ffmpegOfSystem = (): ToolProvider<Ffmpeg> =>
  inPlace('system', 'the system', async () => {
    const path = await findOnPath('ffmpeg');
    if (!path) throw new Error('it has none');
    return path;
  });

/**
 * The FFmpeg of the package `ffmpeg-static`, where somebody let its install script run. This service does not do what
 * that script does: it publishes no checksum to hold the file against.
 */
export const ffmpegFromNpm = (): ToolProvider<Ffmpeg> =>
  inPlace('npm', 'the package ffmpeg-static', async () => {
    const path = (await import('ffmpeg-static')).default as unknown as string | null;
    if (!path) throw new Error('it has no build for this machine');
    await access(path).catch((cause) => {
      throw new Error('its install script is off', { cause });
    });
    return path;
  });

/** The FFmpeg that PyPI's `imageio-ffmpeg` carries in its wheel, for which the registry's checksum vouches. */
export const ffmpegFromPypi = (): ToolProvider<Ffmpeg> => ({
  name: 'pypi',
  label: 'PyPI',
  async fetch(folder, { signal }) {
    const python = await findPython();
    await python.install('imageio-ffmpeg', folder, { signal });
    const inside = join('imageio_ffmpeg', 'binaries');
    const name = (await readdir(join(folder, inside))).find((file) => file.startsWith('ffmpeg-'));
    if (!name) throw new Error('its wheel carries none for this machine');
    await chmod(join(folder, inside, name), 0o755);
    const tool = await inspectFfmpeg(join(folder, inside, name), 'pypi', signal);
    return (place) => ({ ...tool, path: join(place, inside, name) });
  },
});

/** One that stays where it is. */
const inPlace = (name: ToolSource, label: string, find: () => Promise<string>): ToolProvider<Ffmpeg> => ({
  name,
  label,
  fetch: async (_, { signal }) => {
    const tool = await inspectFfmpeg(await find(), name, signal);
    return () => tool;
  },
});
