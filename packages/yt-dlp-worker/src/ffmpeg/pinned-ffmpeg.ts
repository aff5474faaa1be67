import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findPython } from '../process/index.ts';

/** Processors of images. */
export type ImageArchitecture = 'x86_64' | 'arm64';

/** PyPI's package with builds of FFmpeg that need nothing but glibc, and the version of it that images contain. */
export const PACKAGE = 'imageio-ffmpeg';
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
export async function findWheelProgram(folder: string): Promise<string> {
  const binaries = join('imageio_ffmpeg', 'binaries');
  const name = (await readdir(join(folder, binaries))).find((entry) => entry.startsWith('ffmpeg-'));
  if (!name) throw new Error('its wheel has no build for this machine');
  await chmod(join(folder, binaries, name), 0o755);
  return join(binaries, name);
}
