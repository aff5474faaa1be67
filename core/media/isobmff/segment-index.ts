import { parseBoxHeader } from './boxes.ts';

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
