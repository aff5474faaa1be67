import { BOX_HEADER_BYTES, boxHeader, extendMovie, findLeadingMovie, UnsupportedMp4 } from '../isobmff/index.ts';
import { chunkOffsets, type TextTrack, textTables, timedText } from '../timed-text/index.ts';
import type { LayoutExtras } from './layout-source.ts';

/** Without samples, a `moov` has a few KB. */
const MAX_HEADER_BYTES = 16 * 1024 * 1024;

/**
 * Puts tags and text into the first bytes of a fragmented file, whose fragments are found by their `moof`. The samples of
 * the text lie before the first fragment: where later ones would be is not known yet.
 * @param bytes from the beginning of the file
 * @param endSeconds of the presentation; infinite: unknown
 * @returns the bytes; undefined while more are needed
 * @throws TextTooLarge, UnsupportedMp4 when the file does not begin with a `moov`
 */
export function extendHeader(bytes: Buffer, { tags, text }: LayoutExtras, endSeconds: number): Buffer | undefined {
  const box = findLeadingMovie(bytes, MAX_HEADER_BYTES);
  if (box === null) throw new UnsupportedMp4('No moov in front');
  if (!box) return undefined;
  const moov = bytes.subarray(box.start, box.end);
  const track = text && timedText(text, endSeconds);
  const extended = track ? withText(moov, track, box.start, tags) : [extendMovie(moov, [], tags)];
  return Buffer.concat([bytes.subarray(0, box.start), ...extended, bytes.subarray(box.end)]);
}

/** `moov`, and an `mdat` with the text. @param start offset of the `moov` */
function withText(moov: Buffer, track: TextTrack, start: number, tags: Buffer | undefined): readonly Buffer[] {
  const content = track.chunks.map(({ bytes }) => bytes);
  const tables = textTables(track);
  const write = (sampleTables: readonly Buffer[]) => extendMovie(moov, [{ ...track, sampleTables }], tags);
  // Its length does not depend on the offsets.
  let offset = start + write(tables).length + BOX_HEADER_BYTES;
  const offsets = content.map(({ length }) => {
    offset += length;
    return offset - length;
  });
  const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
  const placed = [...tables.slice(0, -1), chunkOffsets(content.length, offsets)];
  return [write(placed), boxHeader('mdat', size), ...content];
}
