import { buffer } from 'node:stream/consumers';
import { UpstreamError } from '../../../core/errors/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { OpenSource } from '../../source/index.ts';

/** A picture in a format that every browser shows. */
export interface Picture {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** With a leading dot. */
  readonly fileExtension: string;
}

/** Bytes of a picture at its source. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

/** By the first bytes. No SVG: it may contain scripts. */
const FORMATS: readonly (readonly [mimeType: string, fileExtension: string, isIt: (head: string) => boolean])[] = [
  ['image/jpeg', '.jpg', (head) => head.startsWith('\xff\xd8\xff')],
  ['image/png', '.png', (head) => head.startsWith('\x89PNG\r\n\x1a\n')],
  ['image/webp', '.webp', (head) => head.startsWith('RIFF') && head.endsWith('WEBP')],
  ['image/gif', '.gif', (head) => head.startsWith('GIF8')],
  ['image/avif', '.avif', (head) => head.endsWith('ftypavif')],
];

/** Names the format of a picture. @throws UpstreamError for other files */
export function recognizePicture(bytes: Buffer): Picture {
  const head = bytes.toString('latin1', 0, 12);
  const [mimeType, fileExtension] = FORMATS.find(([, , isIt]) => isIt(head)) ?? [];
  if (!mimeType || !fileExtension) throw new UpstreamError('The cover is not a picture');
  return { bytes, mimeType, fileExtension };
}

/**
 * Reads a picture of a resource from its source.
 * @throws UpstreamError for a longer file, and what opening and reading throws
 */
export async function readPicture(
  resource: Resource,
  url: string,
  { client, signal }: Pick<StreamSession, 'client' | 'signal'>,
  openSource: OpenSource,
): Promise<Buffer> {
  const track: Track = {
    formatId: 'cover',
    delivery: 'direct',
    url,
    headers: {},
    cookies: [],
    container: 'jpg',
    video: null,
    audio: null,
    sizeIsExact: false,
  };
  const source = await openSource(resource, track, signal, undefined, client);
  try {
    if (source.needsRemux) throw new UpstreamError('The cover is a playlist');
    let left = MAX_PICTURE_BYTES;
    const body = source.read(0).map(
      (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) throw new UpstreamError('The cover is too large');
        return chunk;
      },
      { signal },
    );
    return await buffer(body);
  } finally {
    source.close();
  }
}
