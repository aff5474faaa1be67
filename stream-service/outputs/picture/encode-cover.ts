import { buffer } from 'node:stream/consumers';
import { MAX_COVER_BYTES } from '@reelay/seekable-media/id3';
import { memorySource } from '@reelay/source';
import { FfmpegFailed, type FfmpegInputServer, runFfmpeg } from '../../ffmpeg/index.ts';

export interface EncodeCoverOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly client?: string;
  readonly signal: AbortSignal;
}

/** FFmpeg's demuxers by the first bytes of a picture. Named explicitly (`-f`), since FFmpeg would probe for others too. */
const DEMUXERS: readonly (readonly [name: string, isIt: (head: string) => boolean])[] = [
  ['jpeg_pipe', (head) => head.startsWith('\xff\xd8\xff')],
  ['png_pipe', (head) => head.startsWith('\x89PNG\r\n\x1a\n')],
  ['webp_pipe', (head) => head.startsWith('RIFF') && head.endsWith('WEBP')],
];
/** Pixels of the longer side and quality (2 is best, 31 worst), until the picture fits into a tag. */
const ATTEMPTS = [
  { pixels: 500, quality: 4 },
  { pixels: 300, quality: 8 },
] as const;

/**
 * A picture as JPEG within the bounds of a tag, encoded again: whatever else the file contains is dropped.
 * @throws FfmpegFailed when it is not a JPEG, PNG or WebP, too large in pixels, or cannot be decoded
 */
export async function encodeCover(picture: Buffer, options: EncodeCoverOptions): Promise<Buffer> {
  const head = picture.toString('latin1', 0, 12);
  const demuxer = DEMUXERS.find(([, isIt]) => isIt(head))?.[0];
  if (!demuxer) throw new FfmpegFailed('Not a picture');
  for (const attempt of ATTEMPTS) {
    const jpeg = await encode(picture, demuxer, attempt, options);
    if (jpeg.length > 0 && jpeg.length <= MAX_COVER_BYTES) return jpeg;
  }
  throw new FfmpegFailed('The picture does not fit into a tag');
}

async function encode(
  picture: Buffer,
  demuxer: string,
  { pixels, quality }: (typeof ATTEMPTS)[number],
  { path, inputServer, client, signal }: EncodeCoverOptions,
): Promise<Buffer> {
  const input = inputServer.serve(memorySource(picture));
  const scale = `scale=w='min(${pixels},iw)':h='min(${pixels},ih)':force_original_aspect_ratio=decrease`;
  try {
    const output = runFfmpeg({
      path,
      args: [
        // The last whitelist counts: pictures instead of media.
        ...[...input.args, '-format_whitelist', demuxer, '-f', demuxer, '-i', input.url],
        ...['-map', '0:v:0', '-frames:v', '1', '-vf', `${scale},format=yuvj420p`, '-map_metadata', '-1'],
        ...['-c:v', 'mjpeg', '-q:v', String(quality), '-flags', '+bitexact', '-f', 'mjpeg'],
      ],
      inputs: [input],
      client,
      signal: AbortSignal.any([signal, input.failed]),
    });
    return await buffer(output);
  } finally {
    input.close();
  }
}
