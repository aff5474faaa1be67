import { UnsupportedMp4 } from '../isobmff/index.ts';
import { HEADER_BYTES as OGG_PAGE_BYTES } from '../ogg.ts';
import { Children, ID, readElement, readVariable } from '../webm/index.ts';

/** Bytes of a file that are needed next. Their offsets ascend, and they may begin with some of those before. */
export interface NeededBytes {
  readonly at: number;
  readonly bytes: number;
}

/** Receives the bytes that it asks for. */
export type Scan<Found> = Generator<NeededBytes, Found, Buffer>;

/** The audio of a file. */
export interface FlacPackets {
  /** The content of `STREAMINFO`. */
  readonly streamInfo: Buffer;
  /** Samples; 0: unknown. */
  readonly samples: number;
  /** Where the packets are, one behind the other. */
  readonly runs: readonly { readonly offset: number; readonly size: number }[];
}

const STREAMINFO_BYTES = 34;
const MAX_RUNS = 300_000;
/** Offset of STREAMINFO in the first Ogg packet (RFC 9639 §10.1): after signature, version, number of headers, `fLaC` and a block header. */
const BEFORE_STREAMINFO = 17;
const LAST_BLOCK = 0x80;
const CONTINUED = 1;
const FIRST = 2;
/** Segments of this size do not end their packet. */
const FULL_SEGMENT = 255;
const MAX_TRACKS_BYTES = 1024 * 1024;
/** Of the id and the size of an element. */
const MAX_ELEMENT_HEADER = 12;
/** Of the number of a track, the time and the flags of a block. */
const MAX_BLOCK_HEADER = 11;
const AUDIO = 2;
const LACING = 0x06;

/**
 * Finds the packets of the FLAC of a file of Ogg or Matroska: each page and each block says where the next one is.
 * @throws UnsupportedMp4 for another file, and one that is truncated, laced, encrypted or chained
 */
export function* scanFlacPackets(fileBytes: number): Scan<FlacPackets> {
  const [first] = yield { at: 0, bytes: Math.min(1, fileBytes) };
  const found = yield* first === 0x4f ? scanOgg(fileBytes) : scanMatroska(fileBytes);
  if (found.streamInfo.length < STREAMINFO_BYTES || found.runs.length === 0) throw new UnsupportedMp4('No FLAC');
  return found;
}

function* scanOgg(fileBytes: number): Scan<FlacPackets> {
  const runs: { offset: number; size: number }[] = [];
  let streamInfo = Buffer.alloc(0);
  let samples = 0;
  let serial: number | undefined;
  let [isHeader, isLastHeader] = [true, false];
  for (let at = 0; at < fileBytes; ) {
    const page = yield within(fileBytes, at, OGG_PAGE_BYTES);
    if (page.toString('latin1', 0, 4) !== 'OggS') throw new UnsupportedMp4('No page of Ogg');
    const segments = yield within(fileBytes, at + OGG_PAGE_BYTES, page.readUInt8(OGG_PAGE_BYTES - 1));
    const content = at + OGG_PAGE_BYTES + segments.length;
    const size = segments.reduce((sum, segment) => sum + segment, 0);
    const [flags, id] = [page.readUInt8(5), page.readUInt32LE(14)];
    at = within(fileBytes, content, size).at + size;
    if (flags & FIRST) {
      const packet = yield { at: content, bytes: Math.min(size, BEFORE_STREAMINFO + STREAMINFO_BYTES) };
      if (packet.toString('latin1', 0, 5) !== '\x7fFLAC') continue;
      if (serial !== undefined) throw new UnsupportedMp4('Several streams of FLAC');
      serial = id;
      streamInfo = Buffer.from(packet.subarray(BEFORE_STREAMINFO));
    } else if (id === serial && isHeader) {
      // The first audio begins on a page of its own.
      let [start, isBegin] = [content, (flags & CONTINUED) === 0];
      for (const segment of segments) {
        if (isBegin) isLastHeader = ((yield within(fileBytes, start, 1)).readUInt8() & LAST_BLOCK) !== 0;
        isBegin = segment < FULL_SEGMENT;
        isHeader &&= !(isBegin && isLastHeader);
        start += segment;
      }
    } else if (id === serial && size > 0) {
      addRun(runs, content, size);
      samples = Math.max(samples, Number(page.readBigInt64LE(6)));
    }
  }
  return { streamInfo, samples, runs };
}

function* scanMatroska(fileBytes: number): Scan<FlacPackets> {
  const runs: { offset: number; size: number }[] = [];
  let track: { readonly number: number | undefined; readonly streamInfo: Buffer } | undefined;
  for (let at = 0; at < fileBytes; ) {
    const element = readElement(yield { at, bytes: Math.min(MAX_ELEMENT_HEADER, fileBytes - at) }, 0);
    if (!element) throw new UnsupportedMp4('A truncated element');
    const [content, end] = [at + element.content, at + element.end];
    const size = within(fileBytes, content, end - content).bytes;
    at = end;
    switch (element.id) {
      case ID.segment:
      case ID.cluster:
      case ID.blockGroup:
        at = content;
        break;
      case ID.tracks:
        if (size > MAX_TRACKS_BYTES) throw new UnsupportedMp4('Too many tracks');
        track = findTrack(yield { at: content, bytes: size });
        break;
      case ID.encryptedBlock:
        throw new UnsupportedMp4('Encrypted frames');
      case ID.simpleBlock:
      case ID.block: {
        const header = yield { at: content, bytes: Math.min(MAX_BLOCK_HEADER, size) };
        const number = readVariable(header, 0);
        const headerBytes = (number?.bytes ?? 0) + 3;
        if (number?.value !== track?.number) break;
        if (headerBytes > header.length || header.readUInt8(headerBytes - 1) & LACING)
          throw new UnsupportedMp4('Frames that are laced');
        addRun(runs, content + headerBytes, size - headerBytes);
      }
    }
  }
  return { streamInfo: track?.streamInfo ?? Buffer.alloc(0), samples: 0, runs };
}

/** The first track of audio, which has to be FLAC. */
function findTrack(tracks: Buffer) {
  const entries = new Children(tracks, { content: 0, end: tracks.length }).each(ID.trackEntry);
  const entry = entries.find((each) => each.unsigned(ID.trackType) === AUDIO);
  if (entry?.text(ID.codecId) !== 'A_FLAC' || entry.has(ID.contentEncodings))
    throw new UnsupportedMp4('No FLAC, or compressed or encrypted');
  // `fLaC`, and the header of a block.
  const streamInfo = Buffer.from(entry.bytes(ID.codecPrivate)?.subarray(8, 8 + STREAMINFO_BYTES) ?? []);
  return { number: entry.unsigned(ID.trackNumber), streamInfo };
}

/** @throws UnsupportedMp4 beyond the end of the file */
function within(fileBytes: number, at: number, bytes: number): NeededBytes {
  if (at + bytes > fileBytes) throw new UnsupportedMp4('A truncated file');
  return { at, bytes };
}

function addRun(runs: { offset: number; size: number }[], offset: number, size: number): void {
  if (runs.length === MAX_RUNS) throw new UnsupportedMp4('Too many packets');
  runs.push({ offset, size });
}
