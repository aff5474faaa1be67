import { type Box, parseBoxes, UnsupportedMp4 } from './boxes.ts';

/** Sample entries that can be copied without reading what is in them. */
const SAMPLE_ENTRIES = {
  vide: new Set(['avc1', 'avc3', 'hvc1', 'hev1', 'av01', 'vp09', 'mp4v']),
  soun: new Set(['mp4a', 'Opus', 'fLaC', 'ac-3', 'ec-3', 'alac']),
};

/**
 * The whole `stsd` (ISO/IEC 14496-12 §8.5.2), as a slice of `bytes`.
 * @throws UnsupportedMp4 when it is truncated or has an entry that is not on the list, an encrypted one among them
 */
export function supportedDescriptions(bytes: Buffer, stsd: Box, kind: 'vide' | 'soun'): Buffer {
  const entries = [...parseBoxes(bytes, stsd.content + 8, stsd.end)];
  if (entries.length === 0 || entries.length !== bytes.readUInt32BE(stsd.content + 4)) {
    throw new UnsupportedMp4('Truncated sample descriptions');
  }
  for (const { type, end } of entries) {
    if (!SAMPLE_ENTRIES[kind].has(type) || end > stsd.end) throw new UnsupportedMp4(`Unsupported sample entry ${type}`);
  }
  return bytes.subarray(stsd.start, stsd.end);
}

const ENCRYPTED_ENTRIES = new Set(['encv', 'enca']);

/**
 * Whether the bytes contain a `stsd` whose first entry is encrypted (§8.12.1). They may be any part of a file: the box
 * is found by its name, version and flags 0 and a count below 256, a sequence that does not occur by chance.
 */
export function hasEncryptedSampleEntry(bytes: Buffer): boolean {
  for (let at = bytes.indexOf('stsd', 0, 'latin1'); at >= 0; at = bytes.indexOf('stsd', at + 4, 'latin1')) {
    if (at + 20 > bytes.length) return false;
    const isDescriptions = bytes.readUInt32BE(at + 4) === 0 && bytes.readUInt32BE(at + 8) < 256;
    if (isDescriptions && ENCRYPTED_ENTRIES.has(bytes.toString('latin1', at + 16, at + 20))) return true;
  }
  return false;
}
