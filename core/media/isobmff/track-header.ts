import { type Box, findChild, parseBoxes } from './box-parser.ts';
import { UnsupportedMp4 } from './unsupported-mp4.ts';

/** One track as its file's `moov` describes it. Slices of that `moov`, whole boxes where nothing else is said. */
export interface TrackHeader {
  readonly id: number;
  /** Units a second: of the movie, for edits and the track's own duration; and of the media. */
  readonly movieTimescale: number;
  readonly timescale: number;
  /** Seconds, as the header says; undefined when it does not. */
  readonly durationSeconds: number | undefined;
  /** What follows the duration in `tkhd` and `mdhd`: layer, matrix, size; language. */
  readonly presentation: Buffer;
  readonly language: Buffer;
  readonly edits: readonly Edit[];
  /** What `mdia` and `minf` hold beside times and samples. */
  readonly media: readonly Buffer[];
  readonly mediaInformation: readonly Buffer[];
  readonly sampleDescriptions: Buffer;
  /** The content of `stbl`. */
  readonly sampleTable: Buffer;
  /** What `trex` says behind the track's number; undefined: the file is not fragmented. */
  readonly fragmentDefaults: Buffer | undefined;
}

/** An entry of an edit list (§8.6.6): units of the movie, of the media; `rate` as it is written. */
export interface Edit {
  readonly duration: number;
  readonly mediaTime: bigint;
  readonly rate: number;
}

/** Sample entries that need no more than being copied. */
const SAMPLE_ENTRIES = {
  vide: new Set(['avc1', 'avc3', 'hvc1', 'hev1', 'av01', 'vp09', 'mp4v']),
  soun: new Set(['mp4a', 'Opus', 'fLaC', 'ac-3', 'ec-3', 'alac']),
};
const PRESENTATION_BYTES = 60;
const MAX_EDITS = 1000;
const SELF_CONTAINED = 1;

/**
 * The first track of a kind.
 * @param moov its content
 * @throws Unsupported
 */
export function parseTrack(moov: Buffer, kind: 'vide' | 'soun'): TrackHeader {
  const root: Box = { type: 'moov', start: 0, content: 0, end: moov.length };
  const movie = mediaTimes(moov, inside(moov, root, 'mvhd'));
  for (const trak of parseBoxes(moov)) {
    if (trak.type !== 'trak' || trak.end > moov.length) continue;
    const mdia = inside(moov, trak, 'mdia');
    const hdlr = inside(moov, mdia, 'hdlr', 12);
    if (moov.toString('latin1', hdlr.content + 8, hdlr.content + 12) !== kind) continue;
    const minf = inside(moov, mdia, 'minf');
    const stbl = inside(moov, minf, 'stbl');
    const mdhd = inside(moov, mdia, 'mdhd');
    const media = mediaTimes(moov, mdhd);
    const track = trackTimes(moov, inside(moov, trak, 'tkhd'));
    const mvex = findChild(moov, root, 'mvex');
    checkReferences(moov, minf);
    return {
      id: track.id,
      movieTimescale: movie.timescale,
      timescale: media.timescale,
      durationSeconds:
        (mvex && extendedDuration(moov, mvex, movie.timescale)) ??
        seconds(track.duration, movie.timescale) ??
        seconds(media.duration, media.timescale),
      presentation: track.presentation,
      language: media.rest.subarray(0, 4),
      edits: parseEdits(moov, trak),
      media: slices(moov, mdia, ['hdlr', 'elng']),
      mediaInformation: slices(moov, minf, ['vmhd', 'smhd', 'dinf']),
      sampleDescriptions: checkedDescriptions(moov, inside(moov, stbl, 'stsd', 8), kind),
      sampleTable: moov.subarray(stbl.content, stbl.end),
      fragmentDefaults: mvex && fragmentDefaults(moov, mvex, track.id),
    };
  }
  throw new UnsupportedMp4(`No track of kind ${kind}`);
}

/** A box that must be there, with so many bytes of content. @throws Unsupported */
export function inside(bytes: Buffer, parent: Box, type: string, atLeast = 0): Box {
  const found = findChild(bytes, parent, type);
  if (!found || found.end - found.content < atLeast) throw new UnsupportedMp4(`No ${type} that makes sense`);
  return found;
}

function mediaTimes(bytes: Buffer, { content, end }: Box) {
  const isLong = bytes[content] === 1;
  const at = content + (isLong ? 20 : 12);
  if (at + (isLong ? 12 : 8) + 4 > end) throw new UnsupportedMp4('Times are cut');
  const timescale = bytes.readUInt32BE(at);
  if (timescale === 0) throw new UnsupportedMp4('No time scale');
  const duration = isLong ? longDuration(bytes, at + 4) : shortDuration(bytes, at + 4);
  return { timescale, duration, rest: bytes.subarray(at + (isLong ? 12 : 8), end) };
}

function trackTimes(bytes: Buffer, { content, end }: Box) {
  const isLong = bytes[content] === 1;
  const at = content + (isLong ? 20 : 12);
  const rest = at + (isLong ? 16 : 12);
  if (rest + PRESENTATION_BYTES > end) throw new UnsupportedMp4('A track header is cut');
  return {
    id: bytes.readUInt32BE(at),
    duration: isLong ? longDuration(bytes, at + 8) : shortDuration(bytes, at + 8),
    presentation: bytes.subarray(rest, rest + PRESENTATION_BYTES),
  };
}

function extendedDuration(bytes: Buffer, mvex: Box, timescale: number): number | undefined {
  const mehd = findChild(bytes, mvex, 'mehd');
  if (!mehd || mehd.end - mehd.content < 12) return undefined;
  const isLong = bytes[mehd.content] === 1;
  return seconds((isLong ? longDuration : shortDuration)(bytes, mehd.content + 4), timescale);
}

/** All ones say that nobody knows. */
const shortDuration = (bytes: Buffer, at: number) => {
  const duration = bytes.readUInt32BE(at);
  return duration === 0xffff_ffff ? 0 : duration;
};
const longDuration = (bytes: Buffer, at: number) => {
  const duration = Number(bytes.readBigUInt64BE(at));
  return Number.isSafeInteger(duration) ? duration : 0;
};
const seconds = (duration: number, timescale: number) => (duration > 0 ? duration / timescale : undefined);

function parseEdits(bytes: Buffer, trak: Box): Edit[] {
  const edts = findChild(bytes, trak, 'edts');
  const elst = edts && findChild(bytes, edts, 'elst');
  if (!elst) return [];
  const { content, end } = elst;
  if (end - content < 8) throw new UnsupportedMp4('An edit list is cut');
  const isLong = bytes[content] === 1;
  const count = bytes.readUInt32BE(content + 4);
  const entry = isLong ? 20 : 12;
  if (count > MAX_EDITS || content + 8 + count * entry > end) throw new UnsupportedMp4('An edit list is cut');
  return Array.from({ length: count }, (_, index) => {
    const at = content + 8 + index * entry;
    const duration = isLong ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
    if (!Number.isSafeInteger(duration)) throw new UnsupportedMp4('An edit without end');
    const mediaTime = isLong ? bytes.readBigInt64BE(at + 8) : BigInt(bytes.readInt32BE(at + 4));
    return { duration, mediaTime, rate: bytes.readUInt32BE(at + entry - 4) };
  });
}

function slices(bytes: Buffer, parent: Box, types: readonly string[]): Buffer[] {
  return types.flatMap((type) => {
    const found = findChild(bytes, parent, type);
    return found ? [bytes.subarray(found.start, found.end)] : [];
  });
}

/** Media in another file is none of ours to fetch. */
function checkReferences(bytes: Buffer, minf: Box): void {
  const dref = inside(bytes, inside(bytes, minf, 'dinf'), 'dref', 8);
  for (const { content, end } of parseBoxes(bytes, dref.content + 8, dref.end)) {
    if (content + 4 > end || end > dref.end) throw new UnsupportedMp4('References are cut');
    if ((bytes.readUInt32BE(content) & SELF_CONTAINED) === 0) throw new UnsupportedMp4('Media in another file');
  }
}

function checkedDescriptions(bytes: Buffer, stsd: Box, kind: 'vide' | 'soun'): Buffer {
  const entries = [...parseBoxes(bytes, stsd.content + 8, stsd.end)];
  if (entries.length === 0 || entries.length !== bytes.readUInt32BE(stsd.content + 4)) {
    throw new UnsupportedMp4('Sample descriptions are cut');
  }
  for (const { type, end } of entries) {
    if (!SAMPLE_ENTRIES[kind].has(type) || end > stsd.end) throw new UnsupportedMp4(`A sample entry ${type}`);
  }
  return bytes.subarray(stsd.start, stsd.end);
}

function fragmentDefaults(bytes: Buffer, mvex: Box, id: number): Buffer {
  for (const { type, content, end } of parseBoxes(bytes, mvex.content, mvex.end)) {
    if (type !== 'trex' || end > mvex.end || end - content < 24) continue;
    if (bytes.readUInt32BE(content + 4) === id) return bytes.subarray(content + 8, content + 24);
  }
  throw new UnsupportedMp4('Fragments without defaults');
}
