import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../infra/build/bundle.ts';
import { placeFfmpeg } from '../../infra/build/image-context.ts';
import { arm64Stages } from './arm64-stages.ts';
import { buildImage, type Image, oncePerRun } from './image.ts';

/** Processor of an image, as a deployment spells it. */
export type ImageArchitecture = 'x86_64' | 'arm64';

/** That of this machine. */
export const OWN_ARCHITECTURE: ImageArchitecture = process.arch === 'arm64' ? 'arm64' : 'x86_64';

/**
 * The image of the stream service, built from the sources as a deployment does.
 * @param architecture of the image. @default that of this machine
 */
export async function streamImage(architecture = OWN_ARCHITECTURE): Promise<Image> {
  const { name } = await imageOf('stream-service', architecture);
  return oncePerRun(name, () => buildStreamImage(architecture));
}

async function buildStreamImage(architecture: ImageArchitecture): Promise<Image> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-stream-image-'));
  try {
    await bundle({ outDir: dir, only: ['stream-service'] });
    return await streamImageFrom(join(dir, 'stream-service'), architecture);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The same from its bundle. Its stage that fetches FFmpeg is replaced: pip runs here. */
export async function streamImageFrom(context: string, architecture = OWN_ARCHITECTURE): Promise<Image> {
  const ffmpeg = await mkdtemp(join(tmpdir(), 'reelay-ffmpeg-stage-'));
  try {
    await mkdir(join(ffmpeg, 'wheel'));
    await placeFfmpeg({ dir: join(ffmpeg, 'wheel'), architecture });
    const image = await imageOf('stream-service', architecture);
    return await buildImage({ ...image, context, stages: { ...image.stages, ffmpeg } });
  } finally {
    await rm(ffmpeg, { recursive: true, force: true });
  }
}

/** Name, platform and replaced stages of an image for a processor: nothing of another one is executed. */
export async function imageOf(name: string, architecture: ImageArchitecture) {
  if (architecture === OWN_ARCHITECTURE) return { name };
  if (architecture !== 'arm64') throw new Error(`No base images for ${architecture}`);
  return { name: `${name}-arm64`, platform: 'linux/arm64', stages: await arm64Stages() };
}
