import { HEADER_BYTES, oggHeaderBytes } from './ogg-pages.ts';

/** A stream of an Ogg file. */
interface OggStream {
  readonly kind: 'video' | 'audio';
  readonly codec: string;
  /** Pixels, of Theora alone. */
  readonly width?: number;
  readonly height?: number;
}

/** Identification headers by their first bytes (RFC 3533 §4, and the mapping of each codec). */
const SIGNATURES: readonly (readonly [bytes: string, kind: OggStream['kind'], codec: string])[] = [
  ['\x80theora', 'video', 'theora'],
  ['BBCD\0', 'video', 'dirac'],
  ['OVP80\x01', 'video', 'vp8'],
  ['\x01vorbis', 'audio', 'vorbis'],
  ['OpusHead', 'audio', 'opus'],
  ['\x7fFLAC', 'audio', 'flac'],
  ['Speex   ', 'audio', 'speex'],
];
/** Bytes of Theora's identification header up to the height of the picture (Theora specification §6.2). */
const THEORA_HEADER_BYTES = 20;
/** Streams of one file, metadata included; real files have five. */
const MAX_STREAMS = 64;

/**
 * The streams that an Ogg file or its first chain begins with, as far as `head` holds their first pages, which precede all
 * others. Streams without media, such as a skeleton, and unknown ones are left out.
 */
export function readOggStreams(head: Buffer): OggStream[] {
  const streams: OggStream[] = [];
  let at = 0;
  for (let count = 0; count < MAX_STREAMS && isFirstPage(head, at); count++) {
    const from = at + oggHeaderBytes(head, at);
    const segments = head.subarray(at + HEADER_BYTES, from);
    at = from + segments.reduce((sum, segment) => sum + segment, 0);
    const stream = identify(head.subarray(from, at));
    if (stream) streams.push(stream);
  }
  return streams;
}

const isFirstPage = (head: Buffer, at: number): boolean =>
  head.length >= at + HEADER_BYTES && head.toString('latin1', at, at + 4) === 'OggS' && ((head[at + 5] ?? 0) & 2) !== 0;

function identify(packet: Buffer): OggStream | undefined {
  const [, kind, codec] = SIGNATURES.find(([bytes]) => packet.toString('latin1', 0, bytes.length) === bytes) ?? [];
  if (!kind || !codec) return undefined;
  if (codec !== 'theora' || packet.length < THEORA_HEADER_BYTES) return { kind, codec };
  return { kind, codec, width: packet.readUIntBE(14, 3), height: packet.readUIntBE(17, 3) };
}
