import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { type Extent, firstSequence, type LayoutTrack, MAX_MOOFS } from '@reelay/seekable-media/virtual-mp4';
import { PATCH_FRAGMENT, type ParsingOptions, parse } from '../../../core/parsing/index.ts';
import type { ByteReader } from '../byte-reader.ts';
import { readFragmentBoxes, readMoof } from './box-reader.ts';

/** Indexes of the source, whose track ids and offsets are not those of the output. */
const INDEX_BOXES = new Set(['sidx', 'ssix']);

export interface FragmentRange {
  readonly extent: Extent;
  readonly track: LayoutTrack;
  /** Offsets in the output, `end` excluded. */
  readonly first: number;
  readonly end: number;
}

/** Bytes of a source to be passed on without copying. Offsets in the source, `end` excluded. */
export interface SourceRead {
  readonly reader: ByteReader;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads part of a fragment with its `moof` boxes patched. All else is passed on without copying, except that indexes of the
 * source become `free` boxes.
 * @throws UnsupportedMp4 when the fragment is not what the segment index says
 */
export async function* readFragment(
  reader: ByteReader,
  { extent, track, first, end }: FragmentRange,
  options: ParsingOptions,
): AsyncGenerator<Buffer | SourceRead> {
  const { sourceOffset, bytes } = extent;
  const shift = extent.start - sourceOffset;
  /** The part of some bytes at an offset of the source that lies in the range. */
  const clip = (part: Buffer, at: number) =>
    part.subarray(Math.max(0, first - shift - at), Math.max(0, end - shift - at));

  let moofs = 0;
  for await (const box of readFragmentBoxes(reader, { offset: sourceOffset, bytes })) {
    const { type, start, content } = box;
    if (type === 'moof') {
      if (moofs === MAX_MOOFS) throw new UnsupportedMp4('Too many moof boxes in a fragment');
      const sequence = firstSequence(extent.index) + moofs;
      const patch = { track, sourceOffset: start, offset: start + shift, sourceEnd: sourceOffset + bytes, sequence };
      moofs += 1;
      yield clip(await parse(PATCH_FRAGMENT, { moof: await readMoof(reader, box), patch }, options), start);
    } else {
      if (type === 'mdat' && moofs === 0) throw new UnsupportedMp4('A fragment without moof');
      yield clip(INDEX_BOXES.has(type) ? hideBox(box.header) : box.header, start);
      const from = Math.max(content, first - shift);
      const until = Math.min(box.end, end - shift);
      if (from < until) yield { reader, start: from, end: until };
    }
    if (box.end >= end - shift) return;
  }
}

function hideBox(header: Buffer): Buffer {
  const free = Buffer.from(header);
  free.write('free', 4, 'latin1');
  return free;
}
