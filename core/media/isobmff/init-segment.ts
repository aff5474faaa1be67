import { type Box, findChild, parseBoxes } from './box-parser.ts';

/** A track as an initialization section describes it. */
export interface InitTrack {
  readonly id: number;
  /** `vide`, `soun`, or something nobody here reads. */
  readonly kind: string;
  /** Units a second. */
  readonly timescale: number;
  /** Units that a sample lasts where its fragment does not say. */
  readonly sampleDuration: number;
  /** Everything without which its samples cannot be decoded, so that two can be compared. */
  readonly description: Buffer;
}

/** Bytes of a sample entry before the boxes in it (ISO/IEC 14496-12 §12.1.3, §12.2.3). */
const ENTRY_BYTES: Readonly<Record<string, number>> = { vide: 78, soun: 28 };
/** What `esds` says of buffer and bit rates (ISO/IEC 14496-1 §7.2.6.6). */
const RATE_BYTES = 11;

/** The tracks of a `moov`, given whole. What makes no sense is left out. */
export function initTracks(moov: Buffer): readonly InitTrack[] {
  const [root] = parseBoxes(moov);
  if (!root) return [];
  return [...parseBoxes(moov, root.content, root.end)]
    .filter(({ type, end }) => type === 'trak' && end <= moov.length)
    .flatMap((trak) => readTrack(moov, root, trak) ?? []);
}

function readTrack(moov: Buffer, root: Box, trak: Box): InitTrack | undefined {
  const [tkhd, mdhd] = [find(moov, trak, 'tkhd'), find(moov, trak, 'mdia', 'mdhd')];
  const [hdlr, stsd] = [find(moov, trak, 'mdia', 'hdlr'), find(moov, trak, 'mdia', 'minf', 'stbl', 'stsd')];
  if (!tkhd || !mdhd || !hdlr || !stsd || hdlr.end - hdlr.content < 12) return undefined;
  const id = numberBehindTimes(moov, tkhd);
  const timescale = numberBehindTimes(moov, mdhd);
  if (!id || !timescale) return undefined;
  const kind = moov.toString('latin1', hdlr.content + 8, hdlr.content + 12);
  const defaults = fragmentDefaults(moov, root, id);
  return {
    id,
    kind,
    timescale,
    sampleDuration: defaults.readUInt32BE(4),
    description: Buffer.concat([defaults, withoutRates(moov.subarray(stsd.start, stsd.end), kind)]),
  };
}

const find = (bytes: Buffer, parent: Box, ...[type, ...deeper]: string[]): Box | undefined => {
  const found = type === undefined ? parent : findChild(bytes, parent, type);
  return found && deeper.length > 0 ? find(bytes, found, ...deeper) : found;
};

/** The number of a track in `tkhd`, the time scale in `mdhd`: each stands behind two times. */
function numberBehindTimes(bytes: Buffer, { content, end }: Box): number | undefined {
  const at = content + (bytes[content] === 1 ? 20 : 12);
  return at + 4 <= end ? bytes.readUInt32BE(at) : undefined;
}

/** As `trex` has them: description, duration, size, flags. */
function fragmentDefaults(moov: Buffer, root: Box, id: number): Buffer {
  const mvex = findChild(moov, root, 'mvex');
  for (const { type, content, end } of mvex ? parseBoxes(moov, mvex.content, mvex.end) : []) {
    if (type !== 'trex' || end > moov.length || end - content < 24) continue;
    if (moov.readUInt32BE(content + 4) === id) return moov.subarray(content + 8, content + 24);
  }
  return Buffer.alloc(16);
}

/** Bit rates differ from one recording to the next, and nobody needs them to decode. */
function withoutRates(stsd: Buffer, kind: string): Buffer {
  const plain = Buffer.from(stsd);
  const within = ENTRY_BYTES[kind] ?? plain.length;
  const [root] = parseBoxes(plain);
  for (const entry of parseBoxes(plain, (root?.content ?? 0) + 8)) {
    for (const { type, content, end } of parseBoxes(plain, entry.content + within, entry.end)) {
      if (type === 'btrt') plain.fill(0, content, end);
      if (type === 'esds') blankRates(plain, content + 4, end);
    }
  }
  return plain;
}

/** An `ES_Descriptor` without options, then a `DecoderConfigDescriptor`; anything else stays as it is. */
function blankRates(bytes: Buffer, start: number, end: number): void {
  const stream = behindHeader(bytes, start, 3);
  const decoder = stream !== undefined && bytes[stream + 2] === 0 ? behindHeader(bytes, stream + 3, 4) : undefined;
  const rates = (decoder ?? end) + 2;
  if (rates + RATE_BYTES <= end) bytes.fill(0, rates, rates + RATE_BYTES);
}

/** Where a descriptor's content begins: behind its tag and a length of up to four bytes. */
function behindHeader(bytes: Buffer, start: number, tag: number): number | undefined {
  if (bytes[start] !== tag) return undefined;
  let at = start + 1;
  while (at < start + 4 && (bytes[at] ?? 0) & 0x80) at += 1;
  return at + 1;
}

/** Whether samples behind one description can be decoded by the other: of the kinds named, of which the first counts. */
export function isSameDescription(
  before: readonly InitTrack[],
  after: readonly InitTrack[],
  kinds: readonly string[],
): boolean {
  return kinds.every((kind) => {
    const [a, b] = [before, after].map((tracks) => tracks.find((track) => track.kind === kind));
    if (!a || !b) return a === b;
    return a.id === b.id && a.timescale === b.timescale && a.description.equals(b.description);
  });
}
