import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { findOnPath, findPython } from '../process/index.ts';
import type { Ffmpeg, ToolProvider, ToolSource } from '../tools.ts';
import { inspectFfmpeg } from './ffmpeg-check.ts';
import { findWheelProgram, PACKAGE } from './pinned-ffmpeg.ts';

/** The FFmpeg at the path that the operator sets. */
export const ffmpegAtPath = (path: string): ToolProvider<Ffmpeg> =>
  inPlace('path', `the path ${path}`, async () => path);

/** The FFmpeg on PATH. */
export const ffmpegOfSystem = (): ToolProvider<Ffmpeg> =>
  inPlace('system', 'the system', async () => {
    const path = await findOnPath('ffmpeg');
    if (!path) throw new Error('not installed');
    return path;
  });

/**
 * The FFmpeg of the npm package `ffmpeg-static`, if its install script was run. The service does not run that script:
 * it publishes no checksum to verify the download with.
 */
export const ffmpegFromNpm = (): ToolProvider<Ffmpeg> =>
  inPlace('npm', 'the package ffmpeg-static', async () => {
    const path = (await import('ffmpeg-static')).default as unknown as string | null;
    if (!path) throw new Error('it has no build for this machine');
    await access(path).catch((cause) => {
      throw new Error('its install script was not run', { cause });
    });
    return path;
  });

/** The FFmpeg in the wheel of PyPI's `imageio-ffmpeg`, verified by the registry's checksum. */
export const ffmpegFromPypi = (): ToolProvider<Ffmpeg> => ({
  name: 'pypi',
  label: 'PyPI',
  async fetch(folder, { signal, onBytes, onInstall }) {
    const python = await findPython();
    await python.install(PACKAGE, folder, { signal, onBytes, onInstall, hasNoDependencies: true });
    const program = await findWheelProgram(folder);
    const tool = await inspectFfmpeg(join(folder, program), 'pypi', signal);
    return (place) => ({ ...tool, path: join(place, program) });
  },
});

/** A provider of an FFmpeg that is used where it is. */
const inPlace = (name: ToolSource, label: string, find: () => Promise<string>): ToolProvider<Ffmpeg> => ({
  name,
  label,
  fetch: async (_, { signal }) => {
    const tool = await inspectFfmpeg(await find(), name, signal);
    return () => tool;
  },
});
