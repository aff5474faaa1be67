import {
  box,
  FRAGMENTED_FILE_TYPE,
  type FragmentSamples,
  fullBox,
  runParts,
  u32,
  u64,
  unpackSamples,
  writeMovie,
  writeSubsegmentBoxes,
} from '../src/isobmff/index.ts';
import type { TrackHeader } from '../src/isobmff/track-header.ts';
import { checkedPage, oggPageHeader, packetSegments } from '../src/ogg.ts';

/** The fragment of so many bytes that the samples of a segment make. */
export function fragmentOf(place: FragmentSamples, bytes: number): Buffer {
  const { head, tail } = writeSubsegmentBoxes(
    bytes,
    1,
    place.runs.map((run) => ({ ...run, samples: unpackSamples(run) })),
  );
  return Buffer.concat([head, ...place.runs.flatMap((run) => [...runParts(place, run)]), tail]);
}

/** Inputs that the fuzzer starts from, all generated: no media of anyone. */

export const HLS = [
  '#EXTM3U',
  '#EXT-X-VERSION:8',
  '#EXT-X-TARGETDURATION:4',
  '#EXT-X-MEDIA-SEQUENCE:17',
  '#EXT-X-DEFINE:NAME="host",VALUE="b.example"',
  '#EXT-X-KEY:METHOD=AES-128,URI="k?a=1,2",IV=0x0102,KEYFORMAT="identity"',
  '#EXT-X-MAP:URI="init.mp4",BYTERANGE="100@0"',
  '#EXTINF:4.004,title',
  '#EXT-X-BYTERANGE:100@100',
  's.mp4',
  '#EXT-X-DISCONTINUITY',
  '#EXTINF:4,',
  'https://{$host}/s2.mp4?x=1',
  '#EXT-X-GAP',
  '#EXTINF:4,',
  'gap.mp4',
  '#EXT-X-ENDLIST',
].join('\n');
export const HLS_MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1,mp4a",AUDIO="a"\nv.m3u8\n';
export const DASH =
  '<?xml version="1.0"?><!-- --><mpd:MPD type="static" mediaPresentationDuration="P1DT1H2M3.5S"><Period/></MPD>';

const TIMESCALE = 1000;
const SAMPLES = 4;
const SAMPLE_BYTES = 10;
const stsd = (entry: string) => fullBox('stsd', 0, 0, u32(1), box(entry, Buffer.alloc(78), box('btrt', u32(0, 9, 9))));
const handler = (kind: string) => fullBox('hdlr', 0, 0, u32(0), Buffer.from(kind), u32(0, 0, 0), Buffer.from('n\0'));

const trackHeader = (kind: 'vide' | 'soun'): TrackHeader => ({
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

/** The parameter sets of 64x48 in Baseline, and the start of an IDR picture. */
export const H264_PICTURE = '000000016742c00ad9047b011000000300100000030320f12264800000000168cb83cb200000000165888400';
/** The parameter sets of 64x48 in Main, and the start of an IDR picture. */
export const HEVC_PICTURE =
  '0000000140010c01ffff01600000030090000003000003001e95980900000001420101016000000300900000030000' +
  '03001ea02083165959ae4caf016808000003000800000300c840000000014401c173d0890000012601af00';
/** A frame of AAC with ADTS, of 170 bytes. */
export const ADTS_FRAME = 'fff14c80155ffc';

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

export const INFO = JSON.stringify({
  id: '1',
  extractor_key: 'Site',
  title: 'T',
  uploader: 'U',
  duration: 10,
  thumbnails: [{ url: 'https://i.example/a', width: 1, height: 1 }],
  formats: [
    {
      format_id: 'a',
      url: 'https://cdn.example/a.mp4?expire=1790003600',
      protocol: 'https',
      ext: 'mp4',
      vcodec: 'avc1',
      acodec: 'mp4a',
      height: 720,
      tbr: 1000,
      filesize: 1000,
      http_headers: { Referer: 'https://media.example/' },
      cookies: 'a=1; Domain=cdn.example; Path=/; Secure; b="x\\073"',
      format: 'a - 720p',
    },
    { format_id: 'd', url: 'https://cdn.example/d', protocol: 'http_dash_segments', fragments: [{ path: 'a' }] },
  ],
});

/** One file of each format that is read. */
export const SUBTITLES: readonly string[] = [
  'WEBVTT\n\nNOTE a\n\n1\n00:01.000 --> 00:02.500 align:start\n<c.yellow>One</c> &amp; <00:01.500>two\n\n',
  '1\r\n00:00:01,000 --> 00:00:02,500\r\n{\\an8}<i>One</i>\r\ntwo --> three\r\n\r\n',
  '<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="1.5s" end="00:00:03.5">One<br/>two</p></div></body></tt>',
  '<timedtext format="3"><body><p t="1500" d="2000">One</p><p t="1000" d="10"><s>two</s></p></body></timedtext>',
  '<transcript><text start="1.5" dur="2">One &amp;#39; two</text></transcript>',
  '{"events":[{"tStartMs":1500,"dDurationMs":2000,"segs":[{"utf8":"One"},{"utf8":"\\n"}]},{"aAppend":1}]}',
];
