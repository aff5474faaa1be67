import { Children, ID, readBlocks } from '../src/webm/index.ts';

/** What differs in a file of three clusters of one second. */
export interface WebmParts {
  readonly docType: string;
  readonly codec: string;
  readonly duration: number;
  /** Nanoseconds. */
  readonly unit: number;
  readonly width: number;
  /** Of the track. */
  readonly entry: Buffer;
  /** The first one, and the flags of its block. */
  readonly frame: Buffer;
  readonly flags: number;
  readonly cues: readonly ((clusters: number) => Buffer)[];
  /** The cues are behind the media. */
  readonly isAtEnd: boolean;
}

export const KEYFRAME = 0x80;
export const LACING = { xiph: 0x02, fixed: 0x04, ebml: 0x06 };
/** The start of a keyframe of VP9 in 4:2:0 with 8 bits. */
const VP9_KEYFRAME = Buffer.from('8249834200001000', 'hex');

/** An element with a size of four bytes. */
export function element(id: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const name = id.toString(16);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 + bytes.length);
  return Buffer.concat([Buffer.from(name.padStart(name.length + (name.length % 2), '0'), 'hex'), size, bytes]);
}

export function number(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return element(id, bytes);
}

const text = (id: number, value: string) => element(id, Buffer.from(value));

/** A simple block of track 1. @param time from that of its cluster */
export function block(
  time: number,
  { flags = KEYFRAME, data = Buffer.from('frame') }: { flags?: number; data?: Buffer } = {},
): Buffer {
  const fields = Buffer.from([0x81, 0, 0, flags]);
  fields.writeInt16BE(time, 1);
  return element(0xa3, fields, data);
}

export const cluster = (time: number, blocks: readonly Buffer[] = [framed(time)]): Buffer =>
  element(0x1f43b675, number(0xe7, time), ...blocks);

const framed = (time: number, frame: Buffer = VP9_KEYFRAME, flags = KEYFRAME) =>
  block(0, { flags, data: Buffer.concat([frame, Buffer.from(`frame ${String(time).padStart(4, '0')}`)]) });

/**
 * @param index of the cluster, each of the same length
 * @param relative where the frame is within it
 */
export const cue =
  (time: number, index: number, track = 1, relative = 0) =>
  (clusters: number): Buffer =>
    cueAt(time, track, clusters + index * cluster(0).length, relative);

const cueAt = (time: number, track: number, position: number, relative: number) =>
  element(0xbb, number(0xb3, time), element(0xb7, number(0xf7, track), number(0xf1, position), number(0xf0, relative)));

/** Frames of one block, the size of each but the last in front of them. */
export function lace(frames: readonly Buffer[]): Buffer {
  const sizes = frames
    .slice(0, -1)
    .flatMap(({ length }) => [...new Array(Math.floor(length / 255)).fill(255), length % 255]);
  return Buffer.concat([Buffer.from([frames.length - 1, ...sizes]), ...frames]);
}

/**
 * A file of Opus in packets of 20 ms as mkvmerge writes it: eight of them in a block, in units of about a sample, with cues each half second
 * that name blocks within clusters.
 * @param file of FFmpeg
 */
export function mergedFile(file: Buffer): Buffer {
  const unit = 20_832;
  const timeOf = (packet: number) => Math.round((packet * 20_000_000) / unit);
  const segment = { content: file.indexOf(Buffer.from('114d9b74', 'hex')), end: file.length };
  const parts = new Children(file, segment).all;
  const all = (id: number) =>
    Buffer.concat(parts.filter((part) => part.id === id).map(({ start, end }) => file.subarray(start, end)));
  const tracks = all(ID.tracks);
  tracks.writeUInt8(1, tracks.indexOf(Buffer.from('9c8100', 'hex')) + 2);
  const packets = [...readBlocks(all(ID.cluster))].flatMap(({ frames }) => frames);
  const seconds = Buffer.alloc(8);
  seconds.writeDoubleBE(timeOf(packets.length));
  const head = [element(0x1549a966, number(0x2ad7b1, unit), element(0x4489, seconds)), tracks];
  const clusters: Buffer[] = [];
  const cues: ((clusters: number) => Buffer)[] = [];
  for (let first = 0; first < packets.length; first += 32) {
    const position = Buffer.concat(clusters).length;
    const content = [number(0xe7, timeOf(first))];
    for (let at = first; at < Math.min(first + 32, packets.length); at += 8) {
      const relative = Buffer.concat(content).length;
      if (at % 24 === 0) cues.push((offset) => cueAt(timeOf(at), 1, offset + position, relative));
      const data = lace(packets.slice(at, at + 8));
      content.push(block(timeOf(at) - timeOf(first), { flags: KEYFRAME | LACING.xiph, data }));
    }
    clusters.push(element(0x1f43b675, ...content));
  }
  const cuesFrom = (offset: number) => element(0x1c53bb6b, ...cues.map((write) => write(offset)));
  const offset = Buffer.concat([...head, cuesFrom(0)]).length;
  const content = [...head, cuesFrom(offset), ...clusters];
  return Buffer.concat([element(0x1a45dfa3, text(0x4282, 'matroska')), element(0x18538067, ...content)]);
}

const OPUS_HEAD = Buffer.from('4f707573486561640102380180bb0000000000', 'hex');

export function webmFile({
  docType = 'webm',
  codec = 'V_VP9',
  duration = 3000,
  unit = 1_000_000,
  width = 64,
  entry = Buffer.alloc(0),
  frame = VP9_KEYFRAME,
  flags = KEYFRAME,
  cues = [0, 1, 2].map((index) => cue(index * 1000, index)),
  isAtEnd = false,
}: Partial<WebmParts>): Buffer {
  const seconds = Buffer.alloc(8);
  seconds.writeDoubleBE(duration);
  const info = element(0x1549a966, number(0x2ad7b1, unit), element(0x4489, seconds));
  const side = codec.startsWith('A')
    ? [number(0x83, 2), number(0x56aa, 6_500_000), element(0x63a2, OPUS_HEAD)]
    : [number(0x83, 1), element(0xe0, number(0xb0, width), number(0xba, 48))];
  const tracks = element(0x1654ae6b, element(0xae, number(0xd7, 1), text(0x86, codec), ...side, entry));
  const media = Buffer.concat([cluster(0, [framed(0, frame, flags)]), cluster(1000), cluster(2000)]);
  const cuesFrom = (clusters: number) =>
    cues.length > 0 ? element(0x1c53bb6b, ...cues.map((write) => write(clusters))) : Buffer.alloc(0);
  const seekFrom = (at: number) =>
    isAtEnd ? element(0x114d9b74, element(0x4dbb, number(0x53ab, 0x1c53bb6b), number(0x53ac, at))) : Buffer.alloc(0);
  const head = seekFrom(0).length + info.length + tracks.length;
  const clusters = head + (isAtEnd ? 0 : cuesFrom(0).length);
  const content = [seekFrom(clusters + media.length), info, tracks];
  const parts = isAtEnd ? [...content, media, cuesFrom(clusters)] : [...content, cuesFrom(clusters), media];
  return Buffer.concat([element(0x1a45dfa3, text(0x4282, docType)), element(0x18538067, ...parts)]);
}
