import { access, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import {
  type ImageArchitecture,
  installPinnedFfmpeg,
  pinnedFfmpegId,
} from '../../packages/yt-dlp-worker/src/ffmpeg/ffmpeg-providers.ts';
import { bundle } from './bundle.ts';

interface OneMachineContextOptions {
  /** Receives `one-machine/app` and `one-machine/ffmpeg`. */
  readonly outDir: string;
  /** Architecture of the image; that of the builder may differ. */
  readonly architecture: 'x86_64' | 'arm64';
  /** Puts an unpacked release of yt-dlp for Linux into a folder. */
  readonly placeYtDlp: (dir: string) => Promise<void>;
}

/** Prepares all files of the image for one machine: the service in a bundle, the page, and the tools. */
export async function prepareOneMachineContext(options: OneMachineContextOptions): Promise<void> {
  const { outDir, architecture, placeYtDlp } = options;
  await bundle({ outDir, only: ['one-machine'] });
  const dir = join(outDir, 'one-machine');
  await buildPage(join(dir, 'app', 'web'));
  await placeFfmpeg({ dir, architecture });
  await placeYtDlp(join(dir, 'app', 'yt-dlp'));
}

/** Builds the web page into a folder, which is emptied. */
export async function buildPage(outDir: string): Promise<void> {
  const { NODE_ENV } = process.env;
  // Vite builds for development where the environment says so.
  process.env.NODE_ENV = 'production';
  await build({
    configFile: join(import.meta.dirname, '../..', 'web', 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir },
  }).finally(() => {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  });
}

interface PlaceFfmpegOptions {
  /** Receives the program as `ffmpeg`. */
  readonly dir: string;
  /** Architecture of the image; that of the builder may differ. */
  readonly architecture: ImageArchitecture;
}

const CACHE_DIR = join(import.meta.dirname, '../..', 'node_modules', '.cache', 'reelay-ffmpeg');

/**
 * Puts the pinned static FFmpeg for Linux into the build context of an image. The image copies it, so that no command runs
 * in the build, which would need emulation for another architecture.
 * @throws Error in one line when it cannot be downloaded
 */
export async function placeFfmpeg({ dir, architecture }: PlaceFfmpegOptions): Promise<void> {
  await copyFile(await cachedFfmpeg(architecture), join(dir, 'ffmpeg'));
}

/** The path of the program, which is downloaded once per pinned version. */
async function cachedFfmpeg(architecture: ImageArchitecture): Promise<string> {
  const program = join(CACHE_DIR, `ffmpeg-${architecture}-${pinnedFfmpegId(architecture)}`);
  if (await isThere(program)) return program;
  await mkdir(CACHE_DIR, { recursive: true });
  const folder = await mkdtemp(join(CACHE_DIR, 'download-'));
  try {
    const installed = await installPinnedFfmpeg(folder, architecture).catch((cause: Error) => {
      throw new Error(`FFmpeg for the image cannot be downloaded: ${cause.message}`, { cause });
    });
    await rename(join(folder, installed), program);
    return program;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
