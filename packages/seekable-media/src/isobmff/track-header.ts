import { type Box, type HandlerType, type IndexedBox, UnsupportedMp4 } from './boxes.ts';
import { type TrackBoxes, writeAsMp4 } from './quicktime.ts';

/**
 * Offsets from the content of `mvhd` and `mdhd` (ISO/IEC 14496-12 §8.2.2, §8.4.2) by version: 0 has 32-bit times and a
 * 32-bit duration, 1 has 64-bit ones. `end`: of the duration.
 */
export const MEDIA_TIMES = [
  { timescale: 12, duration: 16, end: 20 },
  { timescale: 20, duration: 24, end: 32 },
] as const;

/** The same of `tkhd` (§8.3.2), whose duration is in units of the movie. */
export const TRACK_TIMES = [
  { trackId: 12, duration: 20, end: 24 },
  { trackId: 20, duration: 28, end: 36 },
] as const;

/** 1: 64-bit times. Versions that the standard does not define are read as 0. */
export const timesVersion = (bytes: Buffer, { content }: Box): 0 | 1 => (bytes[content] === 1 ? 1 : 0);

/** A duration in its own units; 0 when it is unknown (all ones) or beyond what a number holds exactly. */
function readDuration(bytes: Buffer, at: number, version: 0 | 1): number {
  const duration = version === 1 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
  return duration === UNKNOWN_32 && version === 0 ? 0 : Number.isSafeInteger(duration) ? duration : 0;
}

/** All ones: the duration cannot be determined (§8.2.2.3). */
export const UNKNOWN_32 = 0xffff_ffff;

/**
 * One track as its file's `moov` describes it. Buffers are slices of that `moov`, whole boxes unless stated; those of QuickTime are
 * written as MP4 has them.
 */
export interface TrackHeader extends TrackBoxes {
  readonly id: number;
  /** Units per second: of the movie, for edits and the track's own duration; and of the media. */
  readonly movieTimescale: number;
  readonly timescale: number;
  /** From `mehd`, else `tkhd`, else `mdhd`; undefined when none of them has it. */
  readonly durationSeconds: number | undefined;
  /** The 60 bytes after the duration in `tkhd`: layer, volume, matrix, width and height. */
  readonly presentation: Buffer;
  readonly edits: readonly Edit[];
  /** The content of `stbl`. */
  readonly sampleTable: Buffer;
  /** 16 bytes of `trex`: sample description index, duration, size, flags. Undefined: the file is not fragmented. */
  readonly fragmentDefaults: Buffer | undefined;
}

/** An entry of `elst` (§8.6.6). `duration` in units of the movie, `mediaTime` of the media, `rate` in 16.16 fixed point. */
export interface Edit {
  readonly duration: number;
  readonly mediaTime: bigint;
  readonly rate: number;
}

const PRESENTATION_BYTES = 60;
const MAX_EDITS = 1000;
const SELF_CONTAINED = 1;

/**
 * Parses the first track of a kind.
 * @throws UnsupportedMp4
 */
export function parseTrackHeader(root: IndexedBox, kind: HandlerType): TrackHeader {
  const moov = root.bytes;
  const movie = parseMediaTimes(moov, root.require('mvhd'));
  for (const { trak, kind: found } of listTracks(root)) {
    if (found !== kind) continue;
    const mdia = trak.require('mdia');
    const minf = mdia.require('minf');
    const stbl = minf.require('stbl');
    const media = parseMediaTimes(moov, mdia.require('mdhd'));
    const track = parseTrackTimes(moov, trak.require('tkhd'));
    const mvex = root.find('mvex');
    requireSelfContained(minf);
    const descriptions = requireSupportedEntries(stbl.require('stsd', 8), kind);
    const boxes = {
      language: media.rest.subarray(0, 4),
      media: sliceBoxes(mdia, ['hdlr', 'elng']),
      mediaInformation: sliceBoxes(minf, ['vmhd', 'smhd', 'dinf']),
      sampleDescriptions: descriptions.whole,
    };
    return {
      id: track.id,
      movieTimescale: movie.timescale,
      timescale: media.timescale,
      durationSeconds:
        (mvex && readFragmentsDuration(mvex, movie.timescale)) ??
        seconds(track.duration, movie.timescale) ??
        seconds(media.duration, media.timescale),
      presentation: track.presentation,
      edits: parseEdits(trak),
      ...(isQuickTime(mdia.require('hdlr', 8), descriptions, kind) ? writeAsMp4(boxes, descriptions, kind) : boxes),
      sampleTable: moov.subarray(stbl.content, stbl.end),
      fragmentDefaults: mvex && requireFragmentDefaults(root, track.id),
    };
  }
  throw new UnsupportedMp4(`No track of kind ${kind}`);
}

/** The component type of a handler in a QuickTime file; MP4 has 0 there (QuickTime File Format, Handler Reference Atoms). */
const MEDIA_HANDLER = 'mhlr';

/** Whether a track is described as in QuickTime: by its handler, or by a sound description that MP4 does not have. */
const isQuickTime = ({ bytes, content }: IndexedBox, stsd: IndexedBox, kind: HandlerType): boolean =>
  bytes.toString('latin1', content + 4, content + 8) === MEDIA_HANDLER ||
  (kind === 'soun' && bytes[stsd.content] === 0 && stsd.childrenAfter(8).some(hasVersion));

const hasVersion = ({ bytes, content, end }: IndexedBox): boolean =>
  content + 10 <= end && bytes.readUInt16BE(content + 8) > 0;

/** The tracks of a movie, each with its handler type, such as `vide` and `soun`; malformed ones are left out. */
export const listTracks = ({ bytes, children }: IndexedBox) =>
  children.flatMap((trak) => {
    const hdlr = trak.type === 'trak' && trak.end <= bytes.length ? trak.find('mdia', 'hdlr') : undefined;
    if (!hdlr || hdlr.end - hdlr.content < 12) return [];
    return [{ trak, kind: bytes.toString('latin1', hdlr.content + 8, hdlr.content + 12) }];
  });

/** The handler types of all tracks. */
export const listTrackKinds = (movie: IndexedBox): readonly string[] => listTracks(movie).map(({ kind }) => kind);

function parseMediaTimes(bytes: Buffer, box: Box) {
  const version = timesVersion(bytes, box);
  const fields = MEDIA_TIMES[version];
  if (box.content + fields.end + 4 > box.end) throw new UnsupportedMp4(`Truncated ${box.type}`);
  const timescale = bytes.readUInt32BE(box.content + fields.timescale);
  if (timescale === 0) throw new UnsupportedMp4(`${box.type} has time scale 0`);
  const duration = readDuration(bytes, box.content + fields.duration, version);
  return { timescale, duration, rest: bytes.subarray(box.content + fields.end, box.end) };
}

function parseTrackTimes(bytes: Buffer, box: Box) {
  const version = timesVersion(bytes, box);
  const fields = TRACK_TIMES[version];
  const rest = box.content + fields.end;
  if (rest + PRESENTATION_BYTES > box.end) throw new UnsupportedMp4('Truncated tkhd');
  return {
    id: bytes.readUInt32BE(box.content + fields.trackId),
    duration: readDuration(bytes, box.content + fields.duration, version),
    presentation: bytes.subarray(rest, rest + PRESENTATION_BYTES),
  };
}

/** Pixels of the picture as displayed; undefined: not stated. `tkhd` (ISO/IEC 14496-12 §8.3.2): a matrix from byte 16 on, then width and height in 16.16 fixed point. */
export function displaySize({
  presentation,
}: TrackHeader): { readonly width: number; readonly height: number } | undefined {
  const [width, height] = [presentation.readUInt32BE(52) >>> 16, presentation.readUInt32BE(56) >>> 16];
  if (width === 0 || height === 0) return undefined;
  // A matrix that maps x to y rotates by a quarter turn.
  const isTurned = presentation.readInt32BE(16) === 0 && presentation.readInt32BE(20) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}

/** `mehd` (§8.8.2). */
function readFragmentsDuration(mvex: IndexedBox, timescale: number): number | undefined {
  const { bytes } = mvex;
  const mehd = mvex.find('mehd');
  if (!mehd || mehd.end - mehd.content < 12) return undefined;
  return seconds(readDuration(bytes, mehd.content + 4, timesVersion(bytes, mehd)), timescale);
}

const seconds = (duration: number, timescale: number) => (duration > 0 ? duration / timescale : undefined);

function parseEdits(trak: IndexedBox): Edit[] {
  const elst = trak.find('edts', 'elst');
  if (!elst) return [];
  const { bytes, content, end } = elst;
  if (end - content < 8) throw new UnsupportedMp4('Truncated edit list');
  const isLong = bytes[content] === 1;
  const count = bytes.readUInt32BE(content + 4);
  const entryBytes = isLong ? 20 : 12;
  if (count > MAX_EDITS || content + 8 + count * entryBytes > end) throw new UnsupportedMp4('Truncated edit list');
  return Array.from({ length: count }, (_, index) => {
    const at = content + 8 + index * entryBytes;
    const duration = isLong ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
    if (!Number.isSafeInteger(duration)) throw new UnsupportedMp4('Edit duration out of range');
    const mediaTime = isLong ? bytes.readBigInt64BE(at + 8) : BigInt(bytes.readInt32BE(at + 4));
    return { duration, mediaTime, rate: bytes.readUInt32BE(at + entryBytes - 4) };
  });
}

const sliceBoxes = (parent: IndexedBox, types: readonly string[]): Buffer[] =>
  types.flatMap((type) => parent.find(type)?.whole ?? []);

/** `dref` entries (§8.7.2) may point to media in other files, which are never fetched. */
function requireSelfContained(minf: IndexedBox): void {
  const dref = minf.require('dinf').require('dref', 8);
  for (const { bytes, content, end } of dref.childrenAfter(8)) {
    if (content + 4 > end || end > dref.end) throw new UnsupportedMp4('Truncated data references');
    if ((bytes.readUInt32BE(content) & SELF_CONTAINED) === 0) throw new UnsupportedMp4('Media in another file');
  }
}

function requireFragmentDefaults(movie: IndexedBox, trackId: number): Buffer {
  const defaults = findFragmentDefaults(movie, trackId);
  if (!defaults) throw new UnsupportedMp4(`No trex for track ${trackId}`);
  return defaults;
}

/** Sample entries that can be copied without reading what is in them. */
const SAMPLE_ENTRIES = {
  vide: new Set(['avc1', 'avc3', 'hvc1', 'hev1', 'av01', 'vp09', 'mp4v']),
  soun: new Set(['mp4a', 'Opus', 'fLaC', 'ac-3', 'ec-3', 'alac']),
};

/**
 * `stsd` (ISO/IEC 14496-12 §8.5.2).
 * @throws UnsupportedMp4 when it is truncated or has an entry that is not on the list, an encrypted one among them
 */
function requireSupportedEntries(stsd: IndexedBox, kind: HandlerType): IndexedBox {
  const entries = stsd.childrenAfter(8);
  if (entries.length === 0 || entries.length !== stsd.bytes.readUInt32BE(stsd.content + 4)) {
    throw new UnsupportedMp4('Truncated sample descriptions');
  }
  for (const { type, end } of entries) {
    if (!SAMPLE_ENTRIES[kind].has(type) || end > stsd.end) throw new UnsupportedMp4(`Unsupported sample entry ${type}`);
  }
  return stsd;
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

/**
 * The defaults of a track's fragments from its `trex` (§8.8.3): 16 bytes with sample description index, duration, size
 * and flags. Undefined without a complete `trex` of this track.
 * @param movie `moov`
 */
export function findFragmentDefaults(movie: IndexedBox, trackId: number): Buffer | undefined {
  const { bytes } = movie;
  const mvex = movie.find('mvex');
  if (!mvex) return undefined;
  for (const { type, content, end } of mvex.children) {
    if (type !== 'trex' || end > mvex.end || end - content < 24) continue;
    if (bytes.readUInt32BE(content + 4) === trackId) return bytes.subarray(content + 8, content + 24);
  }
  return undefined;
}
