import { flagsOf, type IndexedBox, indexBox, measureFragment, TFHD, UnsupportedMp4 } from '../isobmff/index.ts';
import type { LayoutTrack } from './layout.ts';

export interface FragmentPatch {
  readonly track: LayoutTrack;
  /** Offset of the `moof` in its source, and in the output. */
  readonly sourceOffset: number;
  readonly offset: number;
  /** Offset of the end of the fragment in its source: samples lie before it. */
  readonly sourceEnd: number;
  readonly sequence: number;
}

/**
 * Copies a whole `moof` with its track id, sequence number and absolute offsets changed for the output. The length stays.
 * @throws UnsupportedMp4 when it has anything but one fragment of the track, or samples outside of the fragment
 */
export function patchFragment(source: Buffer, patch: FragmentPatch): Buffer {
  const { track, sourceOffset, offset, sequence } = patch;
  const moof = Buffer.from(source);
  const root = indexBox(moof);
  const mfhd = root?.find('mfhd');
  if (!root || !mfhd || mfhd.end - mfhd.content < 8) throw new UnsupportedMp4('Missing or truncated mfhd');
  requireSamplesInside(moof, patch);

  moof.writeUInt32BE(sequence, mfhd.content + 4);
  const tfhd = requireTrackFragment(root, track.sourceId);
  moof.writeUInt32BE(track.id, tfhd.content + 4);
  if (flagsOf(moof, tfhd) & TFHD.baseDataOffset) {
    const base = Number(moof.readBigUInt64BE(tfhd.content + 8)) + offset - sourceOffset;
    if (base < 0) throw new UnsupportedMp4('Base data offset before the file');
    moof.writeBigUInt64BE(BigInt(base), tfhd.content + 8);
  }
  return moof;
}

function requireTrackFragment(moof: IndexedBox, sourceId: number): IndexedBox {
  const fragments = moof.children.filter(({ type }) => type === 'traf');
  const tfhd = fragments[0]?.find('tfhd');
  if (fragments.length !== 1 || !tfhd || moof.bytes.readUInt32BE(tfhd.content + 4) !== sourceId) {
    throw new UnsupportedMp4('A moof with other tracks');
  }
  return tfhd;
}

function requireSamplesInside(moof: Buffer, { track, sourceOffset: start, sourceEnd }: FragmentPatch): void {
  const { sourceId, fragmentDefaults = Buffer.alloc(16) } = track;
  for (const { first, bytes } of measureFragment({ bytes: moof, offset: start }, sourceId, fragmentDefaults).ranges) {
    if (first < start + moof.length || first + bytes > sourceEnd)
      throw new UnsupportedMp4('Samples outside of their fragment');
  }
}
