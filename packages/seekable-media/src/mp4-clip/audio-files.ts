import { indexBox, type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';
import { opusTags, paddedBytes, vorbisCommentList } from '../ogg/index.ts';
import type { ClipTimes } from '../skipping/index.ts';
import { LayoutBuilder, toLayoutTrack } from '../virtual-mp4/index.ts';
import type { ClipLayout, ClipTrack } from './clip-window.ts';
import { layOutOpus } from './opus-layout.ts';

/** The audio of an MP4 file, or a part of it, in a file of another container. */
interface AudioFile {
  /** @throws UnsupportedMp4 when the container cannot hold it; Error when the file is truncated */
  layOut(audio: ClipTrack, times: ClipTimes, tags: Buffer): ClipLayout;
  /** @param isFull whether to pad them to the size of all full tags, and that of the chapters */
  writeTags(comments: readonly string[], isFull?: boolean): Buffer;
}

/** By FFmpeg's name of the container. */
export const audioFiles = {
  opus: { layOut: layOutOpus, writeTags: opusTags },
  flac: { layOut: layOutFlac, writeTags: flacTags },
} satisfies Readonly<Record<string, AudioFile>>;

export type AudioFileName = keyof typeof audioFiles;

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
function layOutFlac({ header, source, samples }: ClipTrack, { startSeconds }: ClipTimes, tags: Buffer): ClipLayout {
  let total = 0;
  for (const { duration } of samples()) total += duration;
  const layout = new LayoutBuilder();
  layout.addOwn(Buffer.concat([Buffer.from('fLaC'), flacBlock(STREAMINFO, streamInfo(header, total)), tags]));
  layout.beginMedia();
  let end = 0;
  for (const { offset, size, description } of samples()) {
    if (description !== 1 || offset < end) throw new UnsupportedMp4('Samples out of order, or of several descriptions');
    layout.addSamples(source, offset, size);
    end = offset + size;
  }
  const track = toLayoutTrack(header, 1);
  return { ...layout.build([track, track]), startSeconds, endSeconds: startSeconds + total / header.timescale };
}

/** The content of the first block of `dfLa`. @param total samples, which the header of a fragmented file does not know */
function streamInfo({ sampleDescriptions: stsd, timescale }: TrackHeader, total: number): Buffer {
  const [entry] = indexBox(stsd)?.childrenAfter(8) ?? [];
  const dfLa = entry?.childrenAfter(AUDIO_ENTRY_BYTES).find(({ type }) => type === 'dfLa');
  const start = dfLa ? dfLa.content + VERSION_BYTES : 0;
  const content = Buffer.from(stsd.subarray(start + BLOCK_HEADER_BYTES, start + BLOCK_HEADER_BYTES + STREAMINFO_BYTES));
  if (!dfLa || content.length < STREAMINFO_BYTES || (stsd.readUInt8(start) & ~LAST) !== STREAMINFO)
    throw new UnsupportedMp4('FLAC without its configuration');
  const isTold = content.readUInt32BE(TOTAL_AT) !== 0 || content.readUIntBE(RATE_AT, 3) >> 4 !== timescale;
  if (!isTold && total <= 0xffff_ffff) content.writeUInt32BE(total, TOTAL_AT);
  return content;
}
