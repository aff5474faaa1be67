import { indexBox, UnsupportedMp4 } from '../isobmff/index.ts';
import { opusTags, paddedBytes, vorbisCommentList } from '../ogg.ts';
import type { ClipTimes } from '../parts/skipping.ts';
import { LayoutBuilder } from '../virtual-mp4/index.ts';
import type { ClipLayout, ClipTrack } from './clip-window.ts';
import { type FlacPackets, type Scan, scanFlacPackets } from './flac-packets.ts';
import { layOutOpus } from './opus-layout.ts';

/** The audio of an MP4 file, or a part of it, in a file of another container. */
interface AudioFile {
  /** @throws UnsupportedMp4 when the container cannot hold it; Error when the file is truncated */
  layOut(audio: ClipTrack, times: ClipTimes, tags: Buffer): ClipLayout;
  /** @param isFull whether to pad them to the size of all full tags, and that of the chapters */
  writeTags(comments: readonly string[], isFull?: boolean): Buffer;
  /**
   * The audio of a file of another container, whose packets are found by reading all of it. Absent: FFmpeg copies it.
   * @throws UnsupportedMp4 when they cannot be found
   */
  scan?(fileBytes: number, tags: Buffer): Scan<ClipLayout>;
}

/** By FFmpeg's name of the container. */
export const audioFiles: Readonly<Record<AudioFileName, AudioFile>> = {
  opus: { layOut: layOutOpus, writeTags: opusTags },
  flac: { layOut: layOutFlac, writeTags: flacTags, scan: scanFlac },
};

export type AudioFileName = 'opus' | 'flac';

/** Metadata blocks (RFC 9639 §8): 1 bit for the last one, 7 for the type, 24 for the length. */
const STREAMINFO = 0;
const PADDING = 1;
const COMMENTS = 4;
const PICTURE = 6;
const LAST = 0x80;
const BLOCK_HEADER_BYTES = 4;
const STREAMINFO_BYTES = 34;
/** In `STREAMINFO`: 20 bits of the rate, and the lower 32 bits of the number of samples. */
const RATE_AT = 10;
const TOTAL_AT = 14;
const PICTURE_COMMENT = 'METADATA_BLOCK_PICTURE=';
/** Bytes of an audio sample entry before its child boxes (ISO/IEC 14496-12 §12.2.3), and of the version of a full box. */
const AUDIO_ENTRY_BYTES = 28;
const VERSION_BYTES = 4;

/** The blocks of a FLAC file behind the first one. */
function flacTags(comments: readonly string[], isFull = false): Buffer {
  const pictures = comments.filter((comment) => comment.startsWith(PICTURE_COMMENT));
  const texts = vorbisCommentList(comments.filter((comment) => !pictures.includes(comment)));
  const blocks = [
    flacBlock(COMMENTS, texts),
    ...pictures.map((each) => flacBlock(PICTURE, Buffer.from(each.slice(PICTURE_COMMENT.length), 'base64'))),
  ];
  const size = blocks.reduce((sum, { length }) => sum + length, BLOCK_HEADER_BYTES);
  return Buffer.concat([...blocks, flacBlock(LAST | PADDING, Buffer.alloc(isFull ? paddedBytes(comments) - size : 0))]);
}

function flacBlock(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(BLOCK_HEADER_BYTES);
  header.writeUInt32BE(content.length);
  header.writeUInt8(type);
  return Buffer.concat([header, content]);
}

/** All frames of a track, which are those of a FLAC file (Encapsulation of FLAC in ISO BMFF §3.3.3). */
function layOutFlac({ header, samples }: ClipTrack, _: ClipTimes, tags: Buffer): ClipLayout {
  const { sampleDescriptions, timescale } = header;
  const streamInfo = findStreamInfo(sampleDescriptions);
  const runs: { offset: number; size: number }[] = [];
  let total = 0;
  for (const { offset, size, duration, description } of samples()) {
    const before = runs.at(-1);
    const end = before ? before.offset + before.size : 0;
    if (description !== 1 || offset < end) throw new UnsupportedMp4('Samples out of order, or of several descriptions');
    if (before && offset === end) before.size += size;
    else runs.push({ offset, size });
    total += duration;
  }
  return writeFlac({ streamInfo, runs, samples: rateOf(streamInfo) === timescale ? total : 0 }, tags);
}

function* scanFlac(fileBytes: number, tags: Buffer): Scan<ClipLayout> {
  return writeFlac(yield* scanFlacPackets(fileBytes), tags);
}

/** @param packets their samples are for a header that does not know its own */
function writeFlac({ streamInfo, samples, runs }: FlacPackets, tags: Buffer): ClipLayout {
  if (streamInfo.readUInt32BE(TOTAL_AT) === 0 && samples <= 0xffff_ffff) streamInfo.writeUInt32BE(samples, TOTAL_AT);
  const layout = new LayoutBuilder();
  layout.addOwn(Buffer.concat([Buffer.from('fLaC'), flacBlock(STREAMINFO, streamInfo), tags]));
  layout.beginMedia();
  for (const { offset, size } of runs) layout.addSamples(0, offset, size);
  const endSeconds = streamInfo.readUInt32BE(TOTAL_AT) / rateOf(streamInfo);
  return { ...layout.build(endSeconds), startSeconds: 0, endSeconds };
}

const rateOf = (streamInfo: Buffer): number => streamInfo.readUIntBE(RATE_AT, 3) >> 4;

/** The content of the first block of `dfLa`. */
function findStreamInfo(stsd: Buffer): Buffer {
  const [entry] = indexBox(stsd)?.childrenAfter(8) ?? [];
  const dfLa = entry?.childrenAfter(AUDIO_ENTRY_BYTES).find(({ type }) => type === 'dfLa');
  const start = dfLa ? dfLa.content + VERSION_BYTES : 0;
  const content = stsd.subarray(start + BLOCK_HEADER_BYTES, start + BLOCK_HEADER_BYTES + STREAMINFO_BYTES);
  if (!dfLa || content.length < STREAMINFO_BYTES || (stsd.readUInt8(start) & ~LAST) !== STREAMINFO)
    throw new UnsupportedMp4('FLAC without its configuration');
  return Buffer.from(content);
}
