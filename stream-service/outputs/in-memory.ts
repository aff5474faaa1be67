import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { SUBTITLE_TYPES, type SubtitleFormat } from '../../core/media/subtitles/index.ts';
import { CONVERT_SUBTITLES, parse } from '../../core/parsing/index.ts';
import type { KeyedRendition, KeyedSubtitle } from '../../core/state/index.ts';
import { type OpenSource, openTrack } from '../source/index.ts';
import type { Covers } from './picture/index.ts';
import type { Representation, RepresentationHead, RepresentationOpener } from './representation.ts';
import { readSubtitleFile } from './text/index.ts';

/** A small file that is known as a whole, with ranges and an ETag of its bytes. */
export const inMemory = (
  head: Omit<RepresentationHead, 'size' | 'acceptRanges' | 'etag'>,
  bytes: Buffer,
): Representation => ({
  ...head,
  size: bytes.length,
  acceptRanges: 'bytes',
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  // The reader owns the chunk.
  read: (first, last = bytes.length - 1) =>
    Readable.from([Buffer.from(bytes.subarray(first, last + 1))], { objectMode: false }),
});

/** A subtitle file, converted. */
export function subtitle(found: KeyedSubtitle, format: SubtitleFormat, openSource: OpenSource): RepresentationOpener {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    describe: () => ({ ...head, size: undefined, acceptRanges: undefined }),
    async open(session) {
      const source = await openTrack(openSource, found, found.track, session);
      const text = await readSubtitleFile(source, (bytes) => parse(CONVERT_SUBTITLES, { bytes, format }, session));
      return inMemory(head, Buffer.from(text));
    },
  };
}

/** The cover of an item, as its source has it. */
export function cover({ resource }: KeyedRendition, covers: Pick<Covers, 'original'>): RepresentationOpener {
  const open: RepresentationOpener['open'] = async (session) => {
    const { bytes, ...head } = await covers.original(resource, session);
    return inMemory(head, bytes);
  };
  return {
    // Most covers are JPEG.
    describe: () => ({ mimeType: 'image/jpeg', fileExtension: '.jpg', size: undefined, acceptRanges: undefined }),
    inspect: (session) => open(session, { first: 0 }),
    open,
  };
}
