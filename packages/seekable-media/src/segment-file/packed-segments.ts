import { FRAME_HEADER_BYTES, packedCodec } from '../elementary/index.ts';
import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { EsStream } from '../mpegts/demux.ts';
import { CLOCK_HZ, CLOCK_PERIOD } from '../mpegts/packets.ts';
import { readMpegAudio } from '../segment-checks/audio-frames.ts';
import { id3TagBytes } from '../tags/id3.ts';
import { boundStreams, inspectStreams, readStreams } from './es-segments.ts';
import type { SegmentFormat } from './segment-format.ts';

/** The owner of the `PRIV` frame with the time of the first sample (RFC 8216 §3.4). */
const TIMESTAMP_OWNER = 'com.apple.streaming.transportStreamTimestamp\0';
/** Tags with a cover are longer. */
const MAX_TAG_BYTES = 1024 * 1024;
const MAX_TAGS = 8;

/** Packed audio: frames of AAC with ADTS, MP3 or AC-3 behind an ID3 tag with their time. Without one, lists tell it. */
export const packedSegments: SegmentFormat = {
  clockSeconds: CLOCK_PERIOD / CLOCK_HZ,

  inspect(head) {
    const { at, ticks } = readTags(head.bytes);
    const neededBytes = at + FRAME_HEADER_BYTES;
    if (head.bytes.length < neededBytes && !head.isWhole) return { neededBytes: neededBytes + 1024 };
    const facts = inspectStreams([streamOf(head.bytes.subarray(at), ticks)], head);
    return ticks === undefined ? { ...facts, startTime: undefined } : facts;
  },

  boundFragment: boundStreams,

  read(segment, encoding, maxPieces) {
    const { at, ticks } = readTags(segment);
    return readStreams([streamOf(segment.subarray(at), ticks)], encoding, maxPieces);
  },
};

function streamOf(data: Buffer, ticks = 0): EsStream {
  const codec = data.length < FRAME_HEADER_BYTES ? undefined : packedCodec(data);
  if (!codec) throw new UnsupportedMp4('No frame of audio');
  return { codec, packets: [{ ticks, decodeTicks: ticks, at: 0 }], data };
}

/** What a segment begins with: where its sound begins, and the time that its tags state. */
function readTags(bytes: Buffer): { readonly at: number; readonly ticks: number | undefined } {
  let at = 0;
  let ticks: number | undefined;
  for (let count = 0; count < MAX_TAGS; count += 1) {
    const tagBytes = id3TagBytes(bytes.subarray(at));
    const tag = bytes.subarray(at, at + tagBytes);
    if (tagBytes === 0) break;
    if (at + tagBytes > MAX_TAG_BYTES) throw new UnsupportedMp4('ID3 tag too large');
    const owner = tag.indexOf(TIMESTAMP_OWNER, 0, 'latin1');
    const value = owner + TIMESTAMP_OWNER.length;
    if (owner >= 0 && value + 8 <= tag.length) ticks = Number(tag.readBigUInt64BE(value) % BigInt(CLOCK_PERIOD));
    at += tagBytes;
  }
  return { at: at + infoFrameBytes(bytes.subarray(at)), ticks };
}

/** Bytes of the frame without sound that describes an MP3: behind the side information, of 9 to 32 bytes, it says what it is. */
function infoFrameBytes(data: Buffer): number {
  const frame = data.length < FRAME_HEADER_BYTES ? undefined : readMpegAudio(data);
  return frame && /Xing|Info|VBRI/.test(data.toString('latin1', 13, 42)) ? frame.bytes : 0;
}
