import {
  BOX_HEADER_BYTES,
  type BoxHeader,
  LARGE_BOX_HEADER_BYTES,
  parseBoxHeader,
  UnsupportedMp4,
} from '../../../core/media/isobmff/index.ts';
import { type Extent, firstSequence, type LayoutTrack, MAX_MOOFS } from '../../../core/media/virtual-mp4/index.ts';
import { PATCH_FRAGMENT, type ParsingOptions } from '../../../core/parsing/index.ts';
import { type ByteReader, parseMp4 } from '../mux/native/index.ts';
import { isFragmentBox, isIndexBox, MAX_MOOF_BYTES } from './fragment-boxes.ts';

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
 * @throws UnsupportedMp4 when the fragment is not what the segment index says, and whatever reading throws
 */
export async function* readFragment(
  reader: ByteReader,
  { extent, track, first, end }: FragmentRange,
  options: ParsingOptions,
): AsyncGenerator<Buffer | SourceRead> {
  const shift = extent.start - extent.sourceOffset;
  const sourceEnd = extent.sourceOffset + extent.bytes;
  /** The part of some bytes at an offset of the source that lies in the range. */
  const clip = (bytes: Buffer, at: number) =>
    bytes.subarray(Math.max(0, first - shift - at), Math.max(0, end - shift - at));

  let moofs = 0;
  for (let at = extent.sourceOffset; at < Math.min(sourceEnd, end - shift); ) {
    reader.seek(at);
    const { bytes, type, size } = await readHeader(reader, sourceEnd - at);
    if (type === 'moof') {
      if (size > MAX_MOOF_BYTES || moofs === MAX_MOOFS) throw new UnsupportedMp4('moof too large');
      const moof = Buffer.concat([bytes, await reader.read(size - bytes.length)]);
      const sequence = firstSequence(extent.index) + moofs;
      const patch = { track, sourceOffset: at, offset: at + shift, sourceEnd, sequence };
      moofs += 1;
      yield clip(await parseMp4(PATCH_FRAGMENT, { moof, patch }, options), at);
    } else {
      if (type === 'mdat' && moofs === 0) throw new UnsupportedMp4('A fragment without moof');
      yield clip(isIndexBox(type) ? hidden(bytes) : bytes, at);
      const from = Math.max(at + bytes.length, first - shift);
      const until = Math.min(at + size, end - shift);
      if (from < until) yield { reader, start: from, end: until };
    }
    at += size;
  }
}

interface ReadHeader extends Pick<BoxHeader, 'type'> {
  readonly bytes: Buffer;
  readonly size: number;
}

/** @param maxBytes of the box */
async function readHeader(reader: ByteReader, maxBytes: number): Promise<ReadHeader> {
  if (maxBytes < BOX_HEADER_BYTES) throw new UnsupportedMp4('Segment index does not fit its file');
  let bytes = await reader.read(BOX_HEADER_BYTES);
  if (parseBoxHeader(bytes).size === undefined && maxBytes >= LARGE_BOX_HEADER_BYTES) {
    bytes = Buffer.concat([bytes, await reader.read(LARGE_BOX_HEADER_BYTES - BOX_HEADER_BYTES)]);
  }
  const { type, headerBytes, size = 0 } = parseBoxHeader(bytes);
  if (size < headerBytes || size > maxBytes || !isFragmentBox(type)) {
    throw new UnsupportedMp4('Segment index does not fit its file');
  }
  return { bytes, type, size };
}

function hidden(header: Buffer): Buffer {
  const free = Buffer.from(header);
  free.write('free', 4, 'latin1');
  return free;
}
