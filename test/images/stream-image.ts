import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../infra/build/bundle.ts';
import { placeFfmpeg } from '../../infra/build/place-ffmpeg.ts';
import { buildImage, type Image } from './image.ts';

/** Node's name of this processor as a deployment spells it. */
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x86_64';

/** The image of the stream service, built from the sources as a deployment does, for the processor of this machine. */
export async function streamImage(): Promise<Image> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-stream-image-'));
  try {
    await bundle({ outDir: dir, only: ['stream-service'] });
    return await streamImageFrom(join(dir, 'stream-service'));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The same from its bundle, to which FFmpeg is added. */
export async function streamImageFrom(context: string): Promise<Image> {
  await placeFfmpeg({ dir: context, architecture: ARCHITECTURE });
  return buildImage({ name: 'stream-service', context });
}
