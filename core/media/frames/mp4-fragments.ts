import type { AuditedUnits } from './frame-scanner.ts';

/** Boxes with which a file or a segment begins (ISO/IEC 14496-12, 23000-19, 23009-1). */
const FIRST = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid']);
/** Bytes of an index that are read: some 10,000 fragments. */
const MAX_INDEX_BYTES = 128 * 1024;

/** MP4 (ISO/IEC 14496-12 §4.2): boxes. Undefined when `head` is something else. */
export function mp4Units(head: Buffer): AuditedUnits | undefined {
  if (!FIRST.has(head.toString('latin1', 4, 8))) return undefined;
  let openFragments = 0;
  let hasMedia = false;
  let hasData = false;
  /** Bytes of the boxes so far, and those that an index says there are at least. */
  let bytes = 0;
  let indexedBytes = 0;
  return {
    headerBytes: 8,
    mayBegin: () => true,
    read(header) {
      const type = header.toString('latin1', 4, 8);
      if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return undefined;
      const said = header.readUInt32BE(0);
      if (said === 1 && header.length < 16) return { needs: 16 };
      if (type === 'sidx' && header.length < said && said <= MAX_INDEX_BYTES) return { needs: said };
      if (type === 'moof') openFragments += 1;
      if (type === 'mdat') openFragments = Math.max(openFragments - 1, 0);
      if (type === 'mdat') hasData = true;
      if (type === 'mdat' || type === 'moov') hasMedia = true;
      const size = said === 0 ? Number.POSITIVE_INFINITY : said === 1 ? Number(header.readBigUInt64BE(8)) : said;
      bytes += size;
      if (type === 'sidx') indexedBytes = Math.max(indexedBytes, bytes + bytesBehind(header));
      return size;
    },
    missing() {
      if (openFragments > 0) return 'A fragment has no media behind it';
      // An initialization section may bring the index of what others hold.
      if (hasData && bytes < indexedBytes) return `It has ${bytes} bytes of ${indexedBytes} that it lists`;
      return hasMedia ? undefined : 'It holds no media';
    },
  };
}

/** Bytes from the end of an index (`sidx`, ISO/IEC 14496-12 §8.16.3) to the end of what it lists; 0: it cannot be read. */
function bytesBehind(box: Buffer): number {
  const isLong = box[8] === 1;
  const references = isLong ? 40 : 32;
  if (box.length < references) return 0;
  const count = box.readUInt16BE(references - 2);
  if (box.length < references + count * 12) return 0;
  let bytes = isLong ? Number(box.readBigUInt64BE(28)) : box.readUInt32BE(24);
  // The highest bit says what is listed: media or another index.
  for (let index = 0; index < count; index += 1) bytes += box.readUInt32BE(references + index * 12) & 0x7fffffff;
  return bytes;
}
