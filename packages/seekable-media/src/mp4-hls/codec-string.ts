import { descriptorContent, type IndexedBox, indexBox, UnsupportedMp4 } from '../isobmff/index.ts';

/** Bytes of a sample entry before its child boxes (ISO/IEC 14496-12 §12.1.3, §12.2.3). */
const VISUAL_ENTRY_BYTES = 78;
const AUDIO_ENTRY_BYTES = 28;
const HEVC_PROFILE_SPACES = ['', 'A', 'B', 'C'];

/**
 * The codec of the first sample description as RFC 6381 names it, such as `avc1.64001f`.
 * @param stsd a whole box as `parseTrackHeader` returns it
 * @throws UnsupportedMp4 when the configuration is missing
 */
export function codecString(stsd: Buffer): string {
  const entry = firstEntry(stsd);
  switch (entry.type) {
    case 'avc1':
    case 'avc3':
      return `${entry.type}.${configuration(entry, 'avcC', 4).subarray(1, 4).toString('hex')}`;
    case 'hvc1':
    case 'hev1':
      return `${entry.type}.${hevcProfile(configuration(entry, 'hvcC', 13))}`;
    case 'av01':
      return `av01.${av1Profile(configuration(entry, 'av1C', 4))}`;
    case 'vp09': {
      const config = configuration(entry, 'vpcC', 7);
      // Profile, level and bit depth (VP Codec ISO Media File Format Binding).
      const parts = [config.readUInt8(4), config.readUInt8(5), config.readUInt8(6) >> 4];
      return ['vp09', ...parts.map((part) => String(part).padStart(2, '0'))].join('.');
    }
    case 'mp4a':
    case 'mp4v':
      return `${entry.type}.${objectType(configuration(entry, 'esds', 5))}`;
    default:
      // The others have no parameters (RFC 6381 §3.3): the name of the sample entry.
      return entry.type;
  }
}

/** Types of NAL units: VPS, SPS and PPS (ITU-T H.265 table 7-1). */
const HEVC_SETS = [32, 33, 34];
/** Before the arrays of `hvcC` (ISO/IEC 14496-15 §8.3.3.1.2). */
const HVCC_BYTES = 23;
const IS_COMPLETE = 0x80;

/**
 * Sample descriptions of `hev1` as `hvc1`, which is all that Apple's players take. The two differ in that samples of `hev1` may have
 * parameter sets, so they stay as they are where the header lacks one.
 * @param stsd a whole box as `parseTrackHeader` returns it, which is not changed
 */
export function withHvc1(stsd: Buffer): Buffer {
  const renamed = Buffer.from(stsd);
  const entries = indexBox(renamed)?.childrenAfter(8) ?? [];
  for (const entry of entries) {
    if (entry.type !== 'hev1') continue;
    const config = configuration(entry, 'hvcC', 13);
    const arrays = setArrays(config);
    if (!HEVC_SETS.every((kind) => arrays.some((at) => kindAt(config, at) === kind))) return stsd;
    for (const at of arrays)
      if (HEVC_SETS.includes(kindAt(config, at))) config.writeUInt8(config.readUInt8(at) | IS_COMPLETE, at);
    renamed.write('hvc1', entry.start + 4, 'latin1');
  }
  return renamed;
}

const kindAt = (config: Buffer, at: number): number => config.readUInt8(at) & 0x3f;

/** Where the arrays of `hvcC` begin that are there as a whole, and have a unit. */
function setArrays(config: Buffer): readonly number[] {
  const arrays: number[] = [];
  let at = HVCC_BYTES;
  for (let array = 0; array < (config[HVCC_BYTES - 1] ?? 0) && at + 3 <= config.length; array++) {
    const start = at;
    const units = config.readUInt16BE(at + 1);
    at += 3;
    for (let unit = 0; unit < units; unit++)
      at += 2 + (at + 2 <= config.length ? config.readUInt16BE(at) : config.length);
    if (units > 0 && at <= config.length) arrays.push(start);
  }
  return arrays;
}

/** The number of channels of the first sample description, of audio. */
export function channelCount(stsd: Buffer): number {
  return stsd.readUInt16BE(firstEntry(stsd).content + 16);
}

function firstEntry(stsd: Buffer): IndexedBox {
  const [entry] = indexBox(stsd)?.childrenAfter(8) ?? [];
  if (!entry) throw new UnsupportedMp4('Truncated sample descriptions');
  return entry;
}

/** The content of a configuration box of an entry. */
function configuration(entry: IndexedBox, type: string, minBytes: number): Buffer {
  const entryBytes = entry.type === 'mp4a' ? AUDIO_ENTRY_BYTES : VISUAL_ENTRY_BYTES;
  const box = entry.childrenAfter(entryBytes).find((child) => child.type === type && child.end <= entry.end);
  if (!box || box.end - box.content < minBytes) throw new UnsupportedMp4(`Missing or truncated ${type}`);
  return entry.bytes.subarray(box.content, box.end);
}

/** ISO/IEC 14496-15 Annex E.3: profile, compatibility flags in reverse bit order, tier and level, constraints. */
function hevcProfile(config: Buffer): string {
  const first = config.readUInt8(1);
  let flags = 0;
  for (let bit = 0; bit < 32; bit += 1) flags += ((config.readUInt32BE(2) >>> bit) & 1) * 2 ** (31 - bit);
  const constraints = [...config.subarray(6, 12)];
  while (constraints.at(-1) === 0) constraints.pop();
  return [
    `${HEVC_PROFILE_SPACES[first >> 6]}${first & 0x1f}`,
    flags.toString(16).toUpperCase(),
    `${first & 0x20 ? 'H' : 'L'}${config.readUInt8(12)}`,
    ...constraints.map((byte) => byte.toString(16).toUpperCase()),
  ].join('.');
}

/** AV1 Codec ISO Media File Format Binding §5: profile, level and tier, bit depth. */
function av1Profile(config: Buffer): string {
  const [profileLevel, bits] = [config.readUInt8(1), config.readUInt8(2)];
  const level = String(profileLevel & 0x1f).padStart(2, '0');
  const depth = bits & 0x40 ? (bits & 0x20 ? 12 : 10) : 8;
  return `${profileLevel >> 5}.${level}${bits & 0x80 ? 'H' : 'M'}.${String(depth).padStart(2, '0')}`;
}

/** `esds` (ISO/IEC 14496-1 §7.2.6.5): the object type, and for MPEG-4 audio its audio object type. */
function objectType(esds: Buffer): string {
  const stream = descriptorContent(esds, 4, 3);
  const flags = stream === undefined ? 0 : (esds[stream + 2] ?? 0);
  const optional =
    (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (esds[(stream ?? 0) + 3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
  const decoder = stream === undefined ? undefined : descriptorContent(esds, stream + 3 + optional, 4);
  const type = decoder === undefined ? undefined : esds[decoder];
  if (decoder === undefined || type === undefined) throw new UnsupportedMp4('Unreadable esds');
  const name = type.toString(16);
  const specific = descriptorContent(esds, decoder + 13, 5);
  if (type !== 0x40 || specific === undefined || specific + 1 >= esds.length) return name;
  const bits = esds.readUInt16BE(specific);
  const audioType = bits >> 11;
  return `${name}.${audioType === 31 ? 32 + ((bits >> 5) & 0x3f) : audioType}`;
}
