import { mp4Segments } from './mp4-segments.ts';
import type { SegmentFormat } from './segment-format.ts';

/** The formats of segments that a file can be made of. Names are stored with tables: once published they never change. */
export const SEGMENT_FORMATS = { mp4: mp4Segments } as const satisfies Readonly<Record<string, SegmentFormat>>;

export type SegmentFormatName = keyof typeof SEGMENT_FORMATS;

/** With the names of stored tables: a list that made no file may make one by another format. */
export const FORMAT_NAMES = Object.keys(SEGMENT_FORMATS);

export const segmentFormat = (name: SegmentFormatName): SegmentFormat => SEGMENT_FORMATS[name];

/** The format of a segment by its first bytes; undefined: FFmpeg has to read it. */
export function recognizeFormat(head: Buffer): SegmentFormatName | undefined {
  const type = head.toString('latin1', 4, 8);
  return ['ftyp', 'styp', 'moof', 'moov', 'sidx', 'emsg', 'prft', 'free'].includes(type) ? 'mp4' : undefined;
}
