import { type Box, type IndexedBox, indexBox } from './boxes.ts';
import { findFragmentDefaults, listTracks, MEDIA_TIMES, TRACK_TIMES, timesVersion } from './track-header.ts';

/** A track as an initialization section describes it. */
export interface InitTrack {
  readonly id: number;
  /** Handler type: `vide`, `soun`, or any other. */
  readonly kind: string;
  /** Units per second. */
  readonly timescale: number;
  /** Default duration of a sample, in units. */
  readonly sampleDuration: number;
  /** `trex` and `stsd` without bit rates, the name of the encoder and the id of the track: equal for two tracks whose samples one decoder configuration can decode. */
  readonly description: Buffer;
}

/** Bytes of a sample entry before its child boxes (ISO/IEC 14496-12 §12.1.3, §12.2.3). */
const ENTRY_BYTES: Readonly<Record<string, number>> = { vide: 78, soun: 28 };
/** `compressorname` in a sample entry of video: it says who encoded, not how to decode (§12.1.3). */
const ENCODER_NAME = { first: 42, end: 74 };
/** `bufferSizeDB`, `maxBitrate` and `avgBitrate` of a DecoderConfigDescriptor (ISO/IEC 14496-1 §7.2.6.6). */
const RATE_BYTES = 11;

/** The tracks of a whole `moov`; malformed ones are left out. */
export function parseInitTracks(moov: Buffer): readonly InitTrack[] {
  const root = indexBox(moov);
  return root ? listTracks(root).flatMap(({ trak, kind }) => parseInitTrack(root, trak, kind) ?? []) : [];
}

function parseInitTrack(root: IndexedBox, trak: IndexedBox, kind: string): InitTrack | undefined {
  const moov = root.bytes;
  const [tkhd, mdhd] = [trak.find('tkhd'), trak.find('mdia', 'mdhd')];
  const stsd = trak.find('mdia', 'minf', 'stbl', 'stsd');
  if (!tkhd || !mdhd || !stsd) return undefined;
  const id = readField(moov, tkhd, TRACK_TIMES[timesVersion(moov, tkhd)].trackId);
  const timescale = readField(moov, mdhd, MEDIA_TIMES[timesVersion(moov, mdhd)].timescale);
  if (!id || !timescale) return undefined;
  const defaults = findFragmentDefaults(root, id) ?? Buffer.alloc(16);
  return {
    id,
    kind,
    timescale,
    sampleDuration: defaults.readUInt32BE(4),
    description: Buffer.concat([defaults, withoutRates(stsd.whole, kind)]),
  };
}

const readField = (bytes: Buffer, { content, end }: Box, field: number): number | undefined =>
  content + field + 4 <= end ? bytes.readUInt32BE(content + field) : undefined;

/** Bit rates, names of encoders and ids differ between recordings with the same codec configuration. */
function withoutRates(stsd: Buffer, kind: string): Buffer {
  const copy = Buffer.from(stsd);
  const entryBytes = ENTRY_BYTES[kind] ?? copy.length;
  for (const entry of indexBox(copy)?.childrenAfter(8) ?? []) {
    if (kind === 'vide') copy.fill(0, entry.content + ENCODER_NAME.first, entry.content + ENCODER_NAME.end);
    for (const { type, content, end } of entry.childrenAfter(entryBytes)) {
      if (type === 'btrt') copy.fill(0, content, end);
      if (type === 'esds') clearIdAndRates(copy, content + 4, end);
    }
  }
  return copy;
}

/** Expects an ES_Descriptor without optional fields, then a DecoderConfigDescriptor; leaves anything else unchanged. */
function clearIdAndRates(bytes: Buffer, start: number, end: number): void {
  const stream = descriptorContent(bytes, start, 3);
  // ES_ID repeats the id of the track.
  if (stream !== undefined && stream + 2 <= end) bytes.fill(0, stream, stream + 2);
  const decoder = stream !== undefined && bytes[stream + 2] === 0 ? descriptorContent(bytes, stream + 3, 4) : undefined;
  const rates = (decoder ?? end) + 2;
  if (rates + RATE_BYTES <= end) bytes.fill(0, rates, rates + RATE_BYTES);
}

/** Where the content of a descriptor begins: after its tag and a length of up to four bytes (ISO/IEC 14496-1 §8.3.3). */
export function descriptorContent(bytes: Buffer, start: number, tag: number): number | undefined {
  if (bytes[start] !== tag) return undefined;
  let at = start + 1;
  while (at < start + 4 && (bytes[at] ?? 0) & 0x80) at += 1;
  return at + 1;
}

/**
 * The ids that tracks had before, by the ids that they have after, where these differ; undefined where samples after one
 * description cannot be decoded with the other. Compares the first track of each kind.
 */
export function counterparts(
  before: readonly InitTrack[],
  after: readonly InitTrack[],
  kinds: readonly string[],
): ReadonlyMap<number, number> | undefined {
  const ids = new Map<number, number>();
  for (const kind of kinds) {
    const [a, b] = [before, after].map((tracks) => tracks.find((track) => track.kind === kind));
    if (!a && !b) continue;
    if (a?.timescale !== b?.timescale || !a || !b?.description.equals(a.description)) return undefined;
    if (a.id !== b.id) ids.set(b.id, a.id);
  }
  // A track of another kind could have one of these ids.
  const others = after.some(
    (track) => after.find(({ kind }) => kind === track.kind) !== track || !kinds.includes(track.kind),
  );
  return ids.size > 0 && others ? undefined : ids;
}
