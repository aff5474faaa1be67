import {
  box,
  FRAGMENTED_FILE_TYPE,
  type FragmentSamples,
  fullBox,
  parseFragmentSamples,
  runParts,
  u32,
  u64,
  unpackSamples,
  writeMovie,
  writeSubsegmentBoxes,
} from '../src/isobmff/index.ts';
import type { TrackHeader } from '../src/isobmff/track-header.ts';
import { checkedPage, oggPageHeader, packetSegments } from '../src/ogg.ts';
import texts from './seeds.json' with { type: 'json' };

/** The fragment of so many bytes that the samples of a segment make. */
export function fragmentOf(place: FragmentSamples, bytes: number): Buffer {
  const { head, tail } = writeSubsegmentBoxes(
    bytes,
    1,
    place.runs.map((run) => ({ ...run, samples: unpackSamples(run) })),
  );
  return Buffer.concat([head, ...place.runs.flatMap((run) => [...runParts(place, run)]), tail]);
}

/** The samples of a track of a fragment that begins with its `moof`. */
export const samplesIn = (fragment: Buffer, trackId: number) => [
  ...parseFragmentSamples(
    { bytes: fragment.subarray(0, fragment.readUInt32BE()), offset: 0 },
    trackId,
    Buffer.alloc(16),
  ),
];

/** Inputs that the fuzzer starts from, all generated: no media of anyone. */

export const { HLS, HLS_MASTER, DASH } = texts;

const TIMESCALE = 1000;
const SAMPLES = 4;
const SAMPLE_BYTES = 10;
const stsd = (entry: string) => fullBox('stsd', 0, 0, u32(1), box(entry, Buffer.alloc(78), box('btrt', u32(0, 9, 9))));
const handler = (kind: string) => fullBox('hdlr', 0, 0, u32(0), Buffer.from(kind), u32(0, 0, 0), Buffer.from('n\0'));

export const trackHeader = (kind: 'vide' | 'soun'): TrackHeader => ({
  id: 1,
  movieTimescale: TIMESCALE,
  timescale: TIMESCALE,
  durationSeconds: SAMPLES,
  presentation: Buffer.alloc(60),
  language: Buffer.alloc(4),
  edits: [{ duration: SAMPLES * TIMESCALE, mediaTime: 0n, rate: 0x1_0000 }],
  media: [handler(kind)],
  mediaInformation: [
    fullBox(kind === 'vide' ? 'vmhd' : 'smhd', 0, 0, u32(0, 0)),
    box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1))),
  ],
  sampleDescriptions: stsd(kind === 'vide' ? 'avc1' : 'mp4a'),
  sampleTable: Buffer.alloc(0),
  fragmentDefaults: undefined,
});

/** A `moov` with one track of four samples, one second each, in one chunk. */
export function movie(kind: 'vide' | 'soun'): Buffer {
  const sampleTables = [
    fullBox('stts', 0, 0, u32(1, SAMPLES, TIMESCALE)),
    fullBox('ctts', 0, 0, u32(1, SAMPLES, 0)),
    fullBox('stss', 0, 0, u32(2, 1, 3)),
    fullBox('stsc', 0, 0, u32(1, 1, SAMPLES, 1)),
    fullBox('stsz', 0, 0, u32(0, SAMPLES, ...Array<number>(SAMPLES).fill(SAMPLE_BYTES))),
    fullBox('stco', 0, 0, u32(1, 2000)),
  ];
  return writeMovie([{ header: trackHeader(kind), durationSeconds: SAMPLES, sampleTables }]);
}

/** A `moov` whose samples are in fragments. */
export function fragmentedMovie(kind: 'vide' | 'soun'): Buffer {
  const moov = writeMovie([{ header: trackHeader(kind), durationSeconds: SAMPLES, sampleTables: [] }]);
  return box('moov', moov.subarray(8), box('mvex', fullBox('trex', 0, 0, u32(1, 1, TIMESCALE, SAMPLE_BYTES, 0))));
}

export const FRAGMENT = box(
  'moof',
  fullBox('mfhd', 0, 0, u32(1)),
  box(
    'traf',
    fullBox('tfhd', 0, 0x2_0000 | 0x8 | 0x10, u32(1, TIMESCALE, SAMPLE_BYTES)),
    fullBox('tfdt', 1, 0, u64(5000)),
    fullBox('trun', 0, 0x1 | 0x100 | 0x200, u32(2, 100, TIMESCALE, 5, TIMESCALE, 7)),
  ),
);
export const RANDOM_ACCESS = box(
  'mfra',
  fullBox('tfra', 0, 0, u32(1, 0, 2), u32(0, 100), Buffer.alloc(3, 1), u32(1000, 200), Buffer.alloc(3, 1)),
);
export const SEGMENT_INDEX = fullBox('sidx', 0, 0, u32(1, TIMESCALE, 0, 0), u32(2), u32(50, 1000, 0), u32(60, 1000, 0));
/** The beginning of a fragmented file with one fragment. */
export const FRAGMENTED_FILE = Buffer.concat([
  FRAGMENTED_FILE_TYPE,
  fragmentedMovie('vide'),
  SEGMENT_INDEX,
  FRAGMENT,
  box('mdat', Buffer.alloc(12)),
]);

/** Two packets of MPEG-TS: a program association, and the start of a PES packet with a timestamp. */
export const MPEG_TS = Buffer.concat([
  tsPacket(0, [0, 0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xe1, 0, 0, 0, 0, 0]),
  tsPacket(0x101, [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]),
]);
function tsPacket(pid: number, payload: readonly number[]): Buffer {
  const packet = Buffer.alloc(188, 0xff);
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, ...payload]);
  return packet;
}

/** The packet of a map of one program with one stream, of packet id 0x101. */
const programMap = (streamType: number): Buffer =>
  tsPacket(0x100, [0, 2, 0xb0, 18, 0, 1, 0xc1, 0, 0, 0xe1, 1, 0xf0, 0, streamType, 0xe1, 1, 0xf0, 0, 0, 0, 0, 0]);

/** A segment of MPEG-TS: its tables, and a PES packet with a time for each payload, which 0xff fills up to 170 bytes. */
export const tsSegment = (streamType: number, ...payloads: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat([
    MPEG_TS.subarray(0, 188),
    programMap(streamType),
    ...payloads.map((payload, index) =>
      tsPacket(0x101, [
        ...[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, index + 1, 1],
        ...(typeof payload === 'string' ? Buffer.from(payload, 'hex') : payload),
      ]),
    ),
  ]);

/** The parameter sets of 64x48 in Baseline (H.264) and Main (HEVC), and the start of an IDR picture. A frame of ADTS of 170 bytes. */
export const { H264_PICTURE, HEVC_PICTURE, ADTS_FRAME } = texts;

/** The first pages of Ogg with Theora and Opus. */
export const OGG = Buffer.concat(
  ['\x80theora\x03\x02\x01\0\x50\0\x2d\0\x05\0\0\x02\xd0', 'OpusHead\x01\x02'].map((packet) => {
    const segments = packetSegments(packet.length);
    return checkedPage(oggPageHeader({ sequence: 0, granule: 0, segments }), Buffer.from(packet, 'latin1'));
  }),
);

/** An ID3 tag of 12 bytes, then a frame of AAC in ADTS. */
export const ADTS = Buffer.concat([
  Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 2, 0, 0]),
  Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc, 0, 0, 0]),
]);

export const INFO = JSON.stringify(texts.INFO);

/** One file of each format that is read. */
export const SUBTITLES: readonly string[] = texts.SUBTITLES;
