import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ParsingLimitExceeded, UpstreamError } from '../../../core/errors/index.ts';
import { InvalidSubtitles, MAX_SUBTITLE_BYTES } from '../../../core/media/subtitles/index.ts';
import type { Source } from '../../source/index.ts';

/**
 * Reads a subtitle file whole: it is small, and only a whole file can be validated.
 * @param parse the bytes, by a task of `core/parsing`
 * @throws UpstreamError when it is too large or not a subtitle file, and what reading it throws
 */
export async function readSubtitleFile<Output>(
  source: Source,
  parse: (bytes: Buffer) => Promise<Output>,
): Promise<Output> {
  if (source.needsRemux) throw new UpstreamError('Subtitles are a playlist');
  // Read to the bound even where the source states its size: some state none, or a wrong one.
  const bytes = await readAtMost(source.read(0), MAX_SUBTITLE_BYTES);
  return parse(bytes).catch((error) => {
    const isInvalid = error instanceof InvalidSubtitles || error instanceof ParsingLimitExceeded;
    throw isInvalid ? new UpstreamError('The source is no subtitle file', { cause: error }) : error;
  });
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
