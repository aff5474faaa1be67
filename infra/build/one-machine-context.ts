import { join } from 'node:path';
import { build } from 'vite';
import { bundle } from './bundle.ts';
import { placeFfmpeg } from './place-ffmpeg.ts';

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

/** Builds the web page. @param outDir by default `dist/web`, the output directory of its own Vite configuration */
export async function buildPage(outDir?: string): Promise<void> {
  await build({
    configFile: join(import.meta.dirname, '../..', 'web', 'vite.config.ts'),
    logLevel: 'warn',
    ...(outDir && { build: { outDir } }),
  });
}
