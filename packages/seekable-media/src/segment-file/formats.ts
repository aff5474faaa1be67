import { FRAME_HEADER_BYTES, packedCodec } from '../elementary/index.ts';
import { PACKET_BYTES, SYNC_BYTE } from '../mpegts/packets.ts';
import { isId3Tag } from '../tags/id3.ts';
import { mp4Segments } from './mp4-segments.ts';
import { packedSegments } from './packed-segments.ts';
import type { SegmentFormat } from './segment-format.ts';
import { tsSegments } from './ts-segments.ts';
import { webmSegments } from './webm-segments.ts';

/** The formats of segments that a file can be made of. Names are stored with tables: once published they never change. */
const SEGMENT_FORMATS = {
  mp4: mp4Segments,
  mpegts: tsSegments,
  packed: packedSegments,
  webm: webmSegments,
} as const satisfies Readonly<Record<string, SegmentFormat>>;

export type SegmentFormatName = keyof typeof SEGMENT_FORMATS;

/** With the names of stored tables: a list that made no file may make one by another format. */
export const FORMAT_NAMES = Object.keys(SEGMENT_FORMATS);

export const segmentFormat = (name: SegmentFormatName): SegmentFormat => SEGMENT_FORMATS[name];

/** The format of a segment by its first bytes; undefined: FFmpeg has to read it. */
export function recognizeFormat(head: Buffer): SegmentFormatName | undefined {
  const type = head.toString('latin1', 4, 8);
  if (['ftyp', 'styp', 'moof', 'moov', 'sidx', 'emsg', 'prft', 'free'].includes(type)) return 'mp4';
  if (head[0] === SYNC_BYTE && (head.length <= PACKET_BYTES || head[PACKET_BYTES] === SYNC_BYTE)) return 'mpegts';
  return isId3Tag(head) || (head.length >= FRAME_HEADER_BYTES && packedCodec(head)) ? 'packed' : undefined;
}
