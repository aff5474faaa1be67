import { demux } from '../mpegts/demux.ts';
import { CLOCK_HZ, CLOCK_PERIOD, PACKET_BYTES } from '../mpegts/packets.ts';
import { boundStreams, inspectStreams, readStreams, tablesOf } from './es-segments.ts';
import type { SegmentFormat } from './segment-format.ts';

/** Tables are stored with the encoding. */
const MAX_TABLES_BYTES = 64 * PACKET_BYTES;

/** MPEG-TS: a programme of at most one video and one audio, with its tables in each segment, or in an initialization section. */
export const tsSegments: SegmentFormat = {
  clockSeconds: CLOCK_PERIOD / CLOCK_HZ,
  needsTrial: true,

  inspect(head) {
    const { bytes, encoding, init } = head;
    const own = encoding ? [] : demux(Buffer.from(bytes));
    if (own.length > 0) return inspectStreams(own, head);
    const tables = encoding ? tablesOf(encoding) : init && init.length <= MAX_TABLES_BYTES ? init : undefined;
    return inspectStreams(demux(Buffer.concat([tables ?? Buffer.alloc(0), bytes])), head, tables);
  },

  boundFragment: boundStreams,

  read(segment, encoding, maxPieces, hasSets) {
    const tables = tablesOf(encoding);
    const bytes = tables ? Buffer.concat([tables, segment]) : segment;
    return readStreams(demux(bytes), encoding, maxPieces, hasSets);
  },
};
