import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import ffmpegStatic from 'ffmpeg-static/package.json' with { type: 'json' };
import { type Download, downloadFile } from '../download.ts';
import { findOnPath, findPython } from '../process/index.ts';
import { type Ffmpeg, type ToolProvider, ToolRefused, type ToolSource } from '../tools.ts';
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

const { 'binary-release-tag': TAG } = ffmpegStatic['ffmpeg-static'];

/**
 * SHA-256 of the archives of `ffmpeg-static`, which publishes none, by platform and processor. That for Linux on x64 is left out:
 * it contains FFmpeg 7.0.2, which crashes on MPEG-TS.
 */
const STATIC_BUILDS: Readonly<Record<string, string>> = {
  'darwin-arm64': '8923876afa8db5585022d7860ec7e589af192f441c56793971276d450ed3bbfa',
  'darwin-x64': '929b375c1182d956c51f7ac25e0b2b0411fb01f6f407aa15c9758efeb4242106',
  'linux-arm64': '754a678672298bc68156adff58aa7385a592c2b30b1d0ae8750c45c915c4bac0',
  'win32-x64': '8883a3dffbd0a16cf4ef95206ea05283f78908dbfb118f73c83f4951dcc06d77',
};
const MAX_ARCHIVE_BYTES = 2 ** 26;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/**
 * The build that the npm package `ffmpeg-static` stands for. The install script of the package would download it unverified, so it
 * does not run: this downloads the same archive and compares its checksum.
 * @param builds SHA-256 of the archives. @default those pinned here
 */
export const ffmpegFromNpm = ({
  download,
  builds = STATIC_BUILDS,
}: {
  readonly download: Download;
  readonly builds?: Readonly<Record<string, string>>;
}): ToolProvider<Ffmpeg> => ({
  name: 'npm',
  label: 'ffmpeg-static',
  async fetch(folder, { signal, onBytes, onInstall }) {
    const build = `${process.platform}-${process.arch}`;
    const expected = builds[build];
    if (!expected) throw new Error('it has no build for this machine');
    const url = `https://github.com/eugeneware/ffmpeg-static/releases/download/${TAG}/ffmpeg-${build}.gz`;
    const archive = join(folder, 'ffmpeg.gz');
    const bounds = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT_MS, signal, onBytes };
    const sha256 = await downloadFile(download, url, archive, bounds);
    if (sha256 !== expected) throw new ToolRefused('its archive does not match the pinned checksum');
    onInstall?.();
    const program = process.platform === 'win32' ? 'ffmpeg.exe' : 'ffmpeg';
    const output = createWriteStream(join(folder, program), { mode: 0o755 });
    await pipeline(createReadStream(archive), createGunzip(), output, { signal });
    await rm(archive);
    const tool = await inspectFfmpeg(join(folder, program), 'npm', signal);
    return (place) => ({ ...tool, path: join(place, program) });
  },
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
