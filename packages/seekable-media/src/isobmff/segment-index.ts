import { BOX_HEADER_BYTES, parseBoxes, parseBoxHeader } from './boxes.ts';

/** A `sidx` (ISO/IEC 14496-12 §8.16.3). */
export interface SegmentIndex {
  /** `reference_ID`: of the track that the entries describe. */
  readonly trackId: number;
  /** Units per second. */
  readonly timescale: number;
  /** Units. */
  readonly earliestPresentationTime: number;
  /** Bytes between the end of the box and the first entry's media. */
  readonly firstOffset: number;
  readonly entries: readonly SegmentIndexEntry[];
}

/** A subsegment, or another index (`isIndex`: `reference_type` 1). */
export interface SegmentIndexEntry {
  readonly isIndex: boolean;
  /** Bytes: `referenced_size`. Entries follow each other without gaps. */
  readonly size: number;
  /** Units. */
  readonly duration: number;
  /** `starts_with_SAP`, `SAP_type` and `SAP_delta_time`, as written. */
  readonly accessPoint: number;
}

const ENTRY_BYTES = 12;

/** Parses a whole `sidx` box; undefined when it is truncated. */
export function parseSegmentIndex(sidx: Buffer): SegmentIndex | undefined {
  const { headerBytes: content } = parseBoxHeader(sidx);
  const isLong = sidx[content] === 1;
  const entriesAt = content + (isLong ? 32 : 24);
  if (sidx.length < entriesAt) return undefined;
  const count = sidx.readUInt16BE(entriesAt - 2);
  if (sidx.length < entriesAt + count * ENTRY_BYTES) return undefined;
  return {
    trackId: sidx.readUInt32BE(content + 4),
    timescale: sidx.readUInt32BE(content + 8),
    earliestPresentationTime: isLong ? Number(sidx.readBigUInt64BE(content + 12)) : sidx.readUInt32BE(content + 12),
    firstOffset: isLong ? Number(sidx.readBigUInt64BE(content + 20)) : sidx.readUInt32BE(content + 16),
    entries: Array.from({ length: count }, (_, index) => {
      const at = entriesAt + index * ENTRY_BYTES;
      const reference = sidx.readUInt32BE(at);
      return {
        isIndex: reference >>> 31 === 1,
        size: reference & 0x7fff_ffff,
        duration: sidx.readUInt32BE(at + 4),
        accessPoint: sidx.readUInt32BE(at + 8),
      };
    }),
  };
}

/** A fragment that playback can start at. */
export interface RandomAccessPoint {
  /** Units of the track's media: presentation time. */
  readonly time: number;
  /** Offset of the `moof` in the file. */
  readonly offset: number;
}

/** `mfro`, the last box of an `mfra`, and of the file. */
const MFRO_BYTES = 16;

/** The size of the `mfra` at the end of a file. @param tail the last bytes of the file; undefined without one */
export function findRandomAccessBytes(tail: Buffer): number | undefined {
  const mfro = tail.subarray(-MFRO_BYTES);
  if (mfro.length < MFRO_BYTES) return undefined;
  const { type, size } = parseBoxHeader(mfro);
  return type === 'mfro' && size === MFRO_BYTES ? mfro.readUInt32BE(12) : undefined;
}

/**
 * Parses the entries of a track in a whole `mfra` box (§8.8.9 to §8.8.11), one for each fragment, in the order of the file.
 * Undefined without a complete `tfra` of the track.
 */
export function parseRandomAccess(mfra: Buffer, trackId: number): RandomAccessPoint[] | undefined {
  for (const { type, content, end } of parseBoxes(mfra, BOX_HEADER_BYTES)) {
    if (type !== 'tfra' || end > mfra.length || content + 16 > end || mfra.readUInt32BE(content + 4) !== trackId)
      continue;
    const lengths = mfra.readUInt32BE(content + 8);
    const numbersBytes = [lengths >>> 4, lengths >>> 2, lengths].reduce((sum, length) => sum + (length & 3) + 1, 0);
    const isLong = mfra[content] === 1;
    const entryBytes = (isLong ? 16 : 8) + numbersBytes;
    const count = mfra.readUInt32BE(content + 12);
    if (content + 16 + count * entryBytes > end) return undefined;
    const field = (at: number, index: number) =>
      isLong ? Number(mfra.readBigUInt64BE(at + index * 8)) : mfra.readUInt32BE(at + index * 4);
    const points = Array.from({ length: count }, (_, index) => {
      const at = content + 16 + index * entryBytes;
      return { time: field(at, 0), offset: field(at, 1) };
    });
    // A fragment may have several entries, of which the first tells when it begins.
    return points.filter(({ offset }, index) => offset !== points[index - 1]?.offset);
  }
  return undefined;
}
