import type { AuditedUnits } from './unit-walk.ts';

/** Boxes with which a file or a segment begins (ISO/IEC 14496-12, 23000-19, 23009-1). */
const FIRST = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid']);

/** MP4 (ISO/IEC 14496-12 §4.2): boxes. Undefined when `head` is something else. */
export function mp4Units(head: Buffer): AuditedUnits | undefined {
  if (!FIRST.has(head.toString('latin1', 4, 8))) return undefined;
  let openFragments = 0;
  let hasMedia = false;
  return {
    headerBytes: 8,
    mayBegin: () => true,
    read(header) {
      const type = header.toString('latin1', 4, 8);
      if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return undefined;
      const size = header.readUInt32BE(0);
      if (size === 1 && header.length < 16) return { needs: 16 };
      if (type === 'moof') openFragments += 1;
      if (type === 'mdat') openFragments = Math.max(openFragments - 1, 0);
      if (type === 'mdat' || type === 'moov') hasMedia = true;
      if (size === 0) return Number.POSITIVE_INFINITY;
      return size === 1 ? Number(header.readBigUInt64BE(8)) : size;
    },
    missing() {
      if (openFragments > 0) return 'A fragment has no media behind it';
      return hasMedia ? undefined : 'It holds no media';
    },
  };
}
