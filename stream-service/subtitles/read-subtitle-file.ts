import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { UpstreamError } from '../../core/errors/index.ts';
import { type Cue, InvalidSubtitles, MAX_SUBTITLE_BYTES, readSubtitles } from '../../core/media/subtitles/index.ts';
import type { Source } from '../source/index.ts';

/**
 * Reads a subtitle file whole: it is small, and only a whole file can be validated.
 * @throws UpstreamError when it is too large or not a subtitle file, and what reading it throws
 */
export async function readSubtitleFile(source: Source): Promise<readonly Cue[]> {
  if (source.needsRemux) throw new UpstreamError('Subtitles are a playlist');
  // Read to the bound even where the source states its size: some state none, or a wrong one.
  const bytes = await readAtMost(source.read(0), MAX_SUBTITLE_BYTES);
  try {
    return readSubtitles(bytes);
  } catch (error) {
    if (!(error instanceof InvalidSubtitles)) throw error;
    throw new UpstreamError('The source is no subtitle file', { cause: error });
  }
}

/** @throws UpstreamError for a longer stream, and what reading it throws */
async function readAtMost(stream: Readable, maxBytes: number): Promise<Buffer> {
  let left = maxBytes;
  return buffer(
    stream.map((chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) throw new UpstreamError('The subtitle file is too large');
      return chunk;
    }),
  );
}
