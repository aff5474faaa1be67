import { CLOCK_HZ, CLOCK_PERIOD, demux } from '../mpegts/index.ts';
import { boundStreams, inspectStreams, readStreams } from './es-segments.ts';
import type { SegmentFormat } from './segment-format.ts';

/** MPEG-TS: a programme of at most one video and one audio, with its tables in each segment. */
export const tsSegments: SegmentFormat = {
  clockSeconds: CLOCK_PERIOD / CLOCK_HZ,
  needsTrial: true,
  inspect: (head) => inspectStreams(demux(Buffer.from(head.bytes)), head),
  boundPlace: boundStreams,
  read: (segment, encoding, maxPieces, hasSets) => readStreams(demux(segment), encoding, maxPieces, hasSets),
};
