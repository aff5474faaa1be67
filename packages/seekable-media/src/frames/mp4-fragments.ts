import { BOX_HEADER_BYTES, parseBoxHeader, parseSegmentIndex } from '../isobmff/index.ts';
import type { FrameCheck } from './frame-scanner.ts';

/** Boxes that a file or a segment may begin with (ISO/IEC 14496-12, 23000-19, 23009-1). */
const FIRST = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid']);
/** A larger index is skipped: this is enough for some 10,000 fragments. */
const MAX_INDEX_BYTES = 128 * 1024;

/**
 * Checks MP4 (ISO/IEC 14496-12 §4.2). Undefined when `head` is not MP4.
 * @param isPart whether it is a byte range of a file: an index lists other ranges, too
 */
export function createMp4Check(head: Buffer, isPart = false): FrameCheck | undefined {
  if (!FIRST.has(head.toString('latin1', 4, 8))) return undefined;
  let openFragments = 0;
  let hasMedia = false;
  let hasData = false;
  /** Bytes of all boxes so far, and the minimum according to an index. */
  let bytes = 0;
  let indexedBytes = 0;
  return {
    headerBytes: BOX_HEADER_BYTES,
    mayBegin: () => true,
    read(header) {
      const type = header.toString('latin1', 4, 8);
      if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return undefined;
      const { headerBytes, size } = parseBoxHeader(header);
      if (size === undefined) return { needs: headerBytes };
      if (type === 'sidx' && header.length < size && size <= MAX_INDEX_BYTES) return { needs: size };
      if (type === 'moof') openFragments += 1;
      if (type === 'mdat') openFragments = Math.max(openFragments - 1, 0);
      if (type === 'mdat') hasData = true;
      if (type === 'mdat' || type === 'moov') hasMedia = true;
      bytes += size;
      if (type === 'sidx') indexedBytes = Math.max(indexedBytes, bytes + indexedMediaBytes(header));
      return size;
    },
    problem() {
      if (openFragments > 0) return 'last fragment has no mdat';
      // Without mdat this is an initialization section, whose index describes other files.
      if (hasData && !isPart && bytes < indexedBytes) return `${bytes} bytes of ${indexedBytes} in its index`;
      return hasMedia ? undefined : 'no media';
    },
  };
}

/** Bytes from the end of a `sidx` to the end of the last entry; 0 when it is truncated. */
function indexedMediaBytes(sidx: Buffer): number {
  const index = parseSegmentIndex(sidx);
  return index ? index.entries.reduce((sum, { size }) => sum + size, index.firstOffset) : 0;
}
