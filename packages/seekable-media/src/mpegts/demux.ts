import { UnsupportedMp4 } from '../isobmff/index.ts';
import { createWorkspace } from '../values.ts';
import {
  hasPayload,
  isScrambled,
  isStart,
  PACKET_BYTES,
  packetHeader,
  payloadOffset,
  pidOf,
  readMapPid,
  readPesStart,
  readProgramMap,
  readSection,
  SYNC_BYTE,
} from './packets.ts';

export type EsCodec = 'h264' | 'hevc' | 'aac' | 'mpeg' | 'ac3' | 'eac3';

/** A PES packet. Times in 1/90,000 s of 33 bits. */
interface EsPacket {
  readonly ticks: number | undefined;
  readonly decodeTicks: number | undefined;
  /** Where its data begins in that of the stream. */
  readonly at: number;
}

/** The elementary stream of a programme. */
export interface EsStream {
  readonly codec: EsCodec;
  readonly packets: readonly EsPacket[];
  /** What all packets carry, joined: valid until `demux` is called again, or its bytes change. */
  readonly data: Buffer;
}

/** Stream types (§2.4.4.9, ATSC A/52 annex A). */
const CODECS: Readonly<Record<number, EsCodec>> = {
  27: 'h264',
  36: 'hevc',
  15: 'aac',
  3: 'mpeg',
  4: 'mpeg',
  129: 'ac3',
  135: 'eac3',
};
/** Neither sound nor picture: sections, DSM-CC, metadata, SCTE 35. */
const DATA_TYPES = new Set([0x05, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x14, 0x15, 0x86]);
const PRIVATE_TYPE = 0x06;
/** Descriptors of private streams (ETSI EN 300 468), and their registration. */
const DESCRIPTORS: Readonly<Record<number, EsCodec>> = { 106: 'ac3', 122: 'eac3' };
const REGISTRATION = 0x05;
const REGISTRATIONS: Readonly<Record<string, EsCodec>> = { 'AC-3': 'ac3', EAC3: 'eac3', HEVC: 'hevc' };
/** Registrations of private streams that are sound in a codec not read here. */
const OTHER_SOUND = /^(?:Opus|DTS[123]|BSSD)$/;

const isVideo = (codec: EsCodec) => codec === 'h264' || codec === 'hevc';

/** A stream whose data is being joined. */
interface Joining {
  readonly codec: EsCodec;
  readonly packets: EsPacket[];
  /** Its data, and other bytes behind. */
  readonly target: Buffer;
  length: number;
}

const audioSpace = createWorkspace();

/**
 * The first video and the first audio of the first programme of a segment, or of its first bytes. A last packet that is
 * not whole is left out.
 * @param bytes they are overwritten: video is most of them, and joined at their beginning
 * @throws UnsupportedMp4 for other codecs, for scrambled packets, and where a PES packet began before the segment
 */
export function demux(bytes: Buffer): readonly EsStream[] {
  let mapPid: number | undefined;
  let streams: ReadonlyMap<number, Joining> | undefined;
  const pidsBefore = new Set<number>();
  for (let at = 0; at + PACKET_BYTES <= bytes.length; at += PACKET_BYTES) {
    if (bytes[at] !== SYNC_BYTE) throw new UnsupportedMp4('No packets of 188 bytes');
    const header = packetHeader(bytes, at);
    const start = payloadOffset(bytes, at, header);
    const end = at + PACKET_BYTES;
    if (!hasPayload(header) || start >= end) continue;
    const pid = pidOf(header);
    const stream = streams?.get(pid);
    if (stream) {
      if (isScrambled(header)) throw new UnsupportedMp4('Scrambled');
      const from = isStart(header) ? start + startPacket(stream, bytes.subarray(start, end)) : start;
      if (stream.packets.length === 0) throw new UnsupportedMp4('A packet that began before its segment');
      // Several times faster than `copy` for so few bytes.
      if (stream.target === bytes) bytes.copyWithin(stream.length, from, end);
      else bytes.copy(stream.target, stream.length, from, end);
      stream.length += end - from;
    } else if (pid === 0 && isStart(header)) mapPid ??= readMapPid(wholeSection(bytes.subarray(start, end)));
    else if (pid === mapPid && isStart(header) && !streams) {
      const codecs = codecsOf(readProgramMap(wholeSection(bytes.subarray(start, end))));
      // The segment before was cut within a packet, whose rest this is.
      if (codecs.keys().some((each) => pidsBefore.has(each))) throw new UnsupportedMp4('Media before its program map');
      const join = (codec: EsCodec): Joining => ({
        codec,
        packets: [],
        target: isVideo(codec) ? bytes : audioSpace(bytes.length),
        length: 0,
      });
      streams = new Map(codecs.entries().map(([each, codec]) => [each, join(codec)]));
    } else if (!streams) pidsBefore.add(pid);
  }
  return [...(streams?.values() ?? [])]
    .map(({ codec, packets, target, length }) => ({ codec, packets, data: target.subarray(0, length) }))
    .toSorted((a, b) => Number(isVideo(b.codec)) - Number(isVideo(a.codec)));
}

/** @returns bytes of the header */
function startPacket({ packets, length }: Joining, payload: Buffer): number {
  const start = readPesStart(payload);
  if (!start || start.dataAt > payload.length) throw new UnsupportedMp4('No start of a PES packet');
  if (start.isScrambled) throw new UnsupportedMp4('Scrambled');
  packets.push({ ticks: start.ticks, decodeTicks: start.decodeTicks, at: length });
  return start.dataAt;
}

/** @throws UnsupportedMp4 where the section continues in another packet */
function wholeSection(payload: Buffer) {
  const section = readSection(payload);
  if (!section.isWhole) throw new UnsupportedMp4('A table of several packets');
  return section;
}

/** The codecs of the first video and the first audio of a program map, by their packet ids. */
function codecsOf(map: ReturnType<typeof readProgramMap>): ReadonlyMap<number, EsCodec> {
  if (!map) throw new UnsupportedMp4('No program map');
  const codecs = new Map<number, EsCodec>();
  for (const { type, pid, descriptors } of map) {
    const codec = codecOf(type, descriptors);
    if (codec && !codecs.values().some((other) => isVideo(other) === isVideo(codec))) codecs.set(pid, codec);
  }
  return codecs;
}

/** Undefined for what is neither sound nor picture. @throws UnsupportedMp4 for other codecs */
function codecOf(type: number, descriptors: Buffer): EsCodec | undefined {
  if (DATA_TYPES.has(type)) return undefined;
  if (type !== PRIVATE_TYPE) {
    const codec = CODECS[type];
    if (!codec) throw new UnsupportedMp4(`Stream type ${type}`);
    return codec;
  }
  for (let at = 0; at + 2 <= descriptors.length; at += 2 + descriptors.readUInt8(at + 1)) {
    const tag = descriptors.readUInt8(at);
    const name = tag === REGISTRATION ? descriptors.toString('latin1', at + 2, at + 6) : '';
    if (OTHER_SOUND.test(name)) throw new UnsupportedMp4(`Stream of ${name}`);
    const codec = DESCRIPTORS[tag] ?? REGISTRATIONS[name];
    if (codec) return codec;
  }
  return undefined;
}
