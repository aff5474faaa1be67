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
  /** The first one. */
  readonly frame: Buffer;
  readonly cues: readonly ((clusters: number) => Buffer)[];
  /** The cues are behind the media. */
  readonly isAtEnd: boolean;
}

export const KEYFRAME = 0x80;
export const LACING = 0x06;
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
export function block(time: number, { flags = KEYFRAME, data = Buffer.from('frame') } = {}): Buffer {
  const fields = Buffer.from([0x81, 0, 0, flags]);
  fields.writeInt16BE(time, 1);
  return element(0xa3, fields, data);
}

export const cluster = (time: number, blocks: readonly Buffer[] = [framed(time)]): Buffer =>
  element(0x1f43b675, number(0xe7, time), ...blocks);

const framed = (time: number, frame: Buffer = VP9_KEYFRAME) =>
  block(0, { data: Buffer.concat([frame, Buffer.from(`frame ${String(time).padStart(4, '0')}`)]) });

/** @param index of the cluster, each of the same length */
export const cue =
  (time: number, index: number, track = 1) =>
  (clusters: number): Buffer =>
    element(
      0xbb,
      number(0xb3, time),
      element(0xb7, number(0xf7, track), number(0xf1, clusters + index * cluster(0).length)),
    );

const OPUS_HEAD = Buffer.from('4f707573486561640102380180bb0000000000', 'hex');

export function webmFile({
  docType = 'webm',
  codec = 'V_VP9',
  duration = 3000,
  unit = 1_000_000,
  width = 64,
  entry = Buffer.alloc(0),
  frame = VP9_KEYFRAME,
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
  const media = Buffer.concat([cluster(0, [framed(0, frame)]), cluster(1000), cluster(2000)]);
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
