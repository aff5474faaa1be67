import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { UpstreamError } from '../../core/errors/index.ts';
import {
  InvalidSubtitles,
  MAX_SUBTITLE_BYTES,
  readSubtitles,
  SUBTITLE_TYPES,
  type SubtitleFormat,
  writeSubtitles,
} from '../../core/media/subtitles/index.ts';
import type { KeyedSubtitle } from '../../core/state/index.ts';
import type { RepresentationOpener } from '../representation.ts';
import type { OpenSource } from '../source/index.ts';
import { inMemory } from './in-memory.ts';
import { openTrack } from './open-track.ts';

/** A subtitle file, read whole and converted: it is small, and one pass tells whether it is valid. */
export function subtitle(found: KeyedSubtitle, format: SubtitleFormat, openSource: OpenSource): RepresentationOpener {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    describe: () => ({ ...head, size: undefined, acceptRanges: undefined }),
    async open(session) {
      const source = await openTrack(openSource, found, found.track, session);
      if (source.needsRemux) throw new UpstreamError('Subtitles are a playlist');
      // Read to the bound even where the source states its size: some state none, or a wrong one.
      const bytes = await readAtMost(source.read(0), MAX_SUBTITLE_BYTES);
      return inMemory(head, Buffer.from(convert(bytes, format)));
    },
  };
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

function convert(bytes: Buffer, format: SubtitleFormat): string {
  try {
    return writeSubtitles(readSubtitles(bytes), format);
  } catch (error) {
    if (!(error instanceof InvalidSubtitles)) throw error;
    throw new UpstreamError('The source is no subtitle file', { cause: error });
  }
}
