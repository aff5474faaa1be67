import { BOX_HEADER_BYTES, boxHeader, extendMovie, findLeadingMovie, UnsupportedMp4 } from '../isobmff/index.ts';
import { chunkOffsets, type TextTrack, textTables } from '../text/text-track.ts';
import { type LayoutExtras, textTracks } from './layout-source.ts';

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
export function extendHeader(bytes: Buffer, { tags, ...texts }: LayoutExtras, endSeconds: number): Buffer | undefined {
  const box = findLeadingMovie(bytes, MAX_HEADER_BYTES);
  if (box === null) throw new UnsupportedMp4('No moov in front');
  if (!box) return undefined;
  const moov = bytes.subarray(box.start, box.end);
  const extended = withText(moov, textTracks(texts, endSeconds), box.start, tags);
  return Buffer.concat([bytes.subarray(0, box.start), ...extended, bytes.subarray(box.end)]);
}

/** `moov`, and an `mdat` with the text if there is any. @param start offset of the `moov` */
function withText(
  moov: Buffer,
  texts: readonly TextTrack[],
  start: number,
  tags: Buffer | undefined,
): readonly Buffer[] {
  const content = texts.flatMap(({ chunks }) => chunks.map(({ bytes }) => bytes));
  const tables = texts.map((text) => textTables(text));
  const write = (placed: readonly (readonly Buffer[])[]) =>
    extendMovie(
      moov,
      texts.map((text, index) => ({ ...text, sampleTables: placed[index] })),
      tags,
    );
  if (texts.length === 0) return [write([])];
  // Its length does not depend on the offsets.
  let offset = start + write(tables).length + BOX_HEADER_BYTES;
  const placed = texts.map(({ chunks }, index) => {
    const offsets = chunks.map(({ bytes }) => {
      offset += bytes.length;
      return offset - bytes.length;
    });
    return [...(tables[index] ?? []).slice(0, -1), chunkOffsets(offsets.length, offsets)];
  });
  const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
  return [write(placed), boxHeader('mdat', size), ...content];
}
