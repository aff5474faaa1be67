import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import ffmpegStatic from 'ffmpeg-static/package.json' with { type: 'json' };
import { type Download, downloadFile } from '../download.ts';
import { findOnPath, run } from '../process/program.ts';
import { findPython } from '../process/python.ts';
import { type Ffmpeg, providerInPlace, type ToolProvider, ToolRefused, type ToolSource } from '../tools.ts';

/** The FFmpeg at the path that the operator sets. */
export const ffmpegAtPath = (path: string): ToolProvider<Ffmpeg> =>
  providerInPlace('path', `the path ${path}`, (signal) => inspectFfmpeg(path, 'path', signal));

/** The FFmpeg on PATH. */
export const ffmpegOfSystem = (): ToolProvider<Ffmpeg> =>
  providerInPlace('system', 'the system', async (signal) => {
    const path = await findOnPath('ffmpeg');
    if (!path) throw new Error('not installed');
    return inspectFfmpeg(path, 'system', signal);
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

const TONE = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=1'];
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=10:duration=1'];

/**
 * Identifies an FFmpeg build and checks that it can encode MP3 with LAME and mux fragmented MP4.
 * @throws Error in one line
 */
export async function inspectFfmpeg(path: string, source: ToolSource, signal: AbortSignal): Promise<Ffmpeg> {
  const said = (await run(path, ['-version'], { signal })).toString();
  const [, version] = /^ffmpeg version (\S+)/.exec(said) ?? [];
  if (!version) throw new Error('it is not FFmpeg');
  await checkMp3(path, signal);
  await checkMp4(path, signal);
  return { version, path, source, buildId: await buildIdOf(path, said) };
}

async function checkMp3(path: string, signal: AbortSignal): Promise<void> {
  const encoding = ['-ar', '48000', '-ac', '2', '-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3', 'pipe:1'];
  const bytes = await encode(path, [...TONE, ...encoding], signal);
  // One second at 192 kbit/s, plus at most a few frames of padding and tags.
  if (bytes.length < 24_000 || bytes.length > 30_000) throw new Error(`its MP3 has ${bytes.length} bytes per second`);
}

async function checkMp4(path: string, signal: AbortSignal): Promise<void> {
  const muxing = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4', 'pipe:1'];
  const bytes = await encode(path, [...PICTURE, ...TONE, '-c:v', 'mpeg4', '-c:a', 'aac', ...muxing], signal);
  if (bytes.toString('latin1', 4, 8) !== 'ftyp' || !bytes.includes('moof')) throw new Error('its MP4 has no fragments');
}

const encode = (path: string, args: readonly string[], signal: AbortSignal): Promise<Buffer> =>
  run(path, ['-nostdin', '-v', 'error', ...args], { signal });

/** Digest of the output of `-version`, libraries included, and of the file: builds of one version differ. */
async function buildIdOf(path: string, said: string): Promise<string> {
  const digest = createHash('sha256').update(said);
  await pipeline(createReadStream(path), digest, { end: false });
  return digest.digest('hex').slice(0, 32);
}

/** Processors of images. */
export type ImageArchitecture = 'x86_64' | 'arm64';

/** PyPI's package with builds of FFmpeg that need nothing but glibc, and the version of it that images contain. */
const PACKAGE = 'imageio-ffmpeg';
const VERSION = '0.8.1';

const WHEELS: Readonly<Record<ImageArchitecture, { readonly file: string; readonly sha256: string }>> = {
  x86_64: {
    file: 'imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_x86_64.whl',
    sha256: '050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda',
  },
  arm64: {
    file: 'imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_aarch64.whl',
    sha256: 'fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e',
  },
};

/** The pinned builds for all processors, as a line of a requirements file of pip. */
export const PINNED_FFMPEG = [
  `${PACKAGE}==${VERSION}`,
  ...Object.values(WHEELS).map(({ sha256 }) => `--hash=sha256:${sha256}`),
].join(' ');

/** Identifies the pinned build for a processor, for caches. */
export const pinnedFfmpegId = (architecture: ImageArchitecture): string => WHEELS[architecture].sha256.slice(0, 16);

/**
 * Installs the pinned build of FFmpeg for Linux with pip, which verifies its hash.
 * @returns the path of the program within the folder
 * @throws Error in one line when there is no Python with pip, or when the download or its hash fails
 */
export async function installPinnedFfmpeg(folder: string, architecture: ImageArchitecture): Promise<string> {
  const { file, sha256 } = WHEELS[architecture];
  const python = await findPython();
  // The last part of the name of a wheel is its platform (PEP 427).
  const [, platform] = /-([^-]+)\.whl$/.exec(file) ?? [];
  await python.install(`${PACKAGE}==${VERSION}`, folder, { sha256, platform });
  return findWheelProgram(folder);
}

/**
 * Finds the program of the wheel that was installed into a folder, and makes it executable.
 * @returns its path within the folder
 */
async function findWheelProgram(folder: string): Promise<string> {
  const binaries = join('imageio_ffmpeg', 'binaries');
  const name = (await readdir(join(folder, binaries))).find((entry) => entry.startsWith('ffmpeg-'));
  if (!name) throw new Error('its wheel has no build for this machine');
  await chmod(join(folder, binaries, name), 0o755);
  return join(binaries, name);
}
