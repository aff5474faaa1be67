import { sniff } from '../codecs.ts';
import type { InitTrack } from '../isobmff/index.ts';
import { PACKET_BYTES, SYNC_BYTE } from '../mpegts/packets.ts';
import { id3TagBytes, isId3Tag } from '../tags/id3.ts';
import { createAudioCheck } from './audio-frames.ts';
import { createFrameScanner } from './frame-scanner.ts';
import { createMp4Check, type Mp4CheckOptions } from './mp4-check.ts';
import { createMpegTsCheck } from './mpegts-check.ts';

/** `other`: media of a container that is not checked any further. `unknown`: no media. */
export type SegmentKind = 'mpegts' | 'mp4' | 'audio' | 'webm' | 'other' | 'unknown';

export interface SegmentCheckOptions extends Mp4CheckOptions {
  /** Duration that its list states; 0 when that is unknown, or rounded. @default 0 */
  readonly seconds?: number;
  /** That may be the one of a template, which segments of MP4 come near to. @default false */
  readonly isNominal?: boolean | undefined;
  /** It is a segment of a list, so that whatever is no media is damaged. @default false: unknown bytes pass */
  readonly isSegment?: boolean;
  /** None follows it, so that a box of it may go on to the end. @default false */
  readonly isLast?: boolean | undefined;
  /** It is an initialization section. @default false */
  readonly isInit?: boolean;
  /** What the list consists of, as far as that is known by now. */
  readonly expected?: () => SegmentKind | undefined;
}

/** Checks bytes by the rules of their container. */
export interface SegmentCheck {
  /** Takes the bytes, from the first one. */
  update(chunk: Buffer): void;
  /** By the first bytes; undefined: more are needed. */
  readonly kind: SegmentKind | undefined;
  /** Whether that may be in the list. */
  readonly isAccepted: boolean;
  /** Length in bytes of a picture in front of the first MPEG-TS packet; 0 without one. */
  readonly foreignBytes: number;
  /** Of the `moov` that was in it. */
  readonly tracks: readonly InitTrack[] | undefined;
  /** What is wrong with the bytes so far; undefined when they may be complete. */
  problem(): string | undefined;
}

/** Media are never shorter. */
const MIN_MEDIA_BYTES = 8;
/** Some sites put a picture in front of MPEG-TS, and demuxers search for the first packet. */
const MAX_HEAD_BYTES = 8 * 1024;
/** Sync bytes that make up MPEG-TS: behind other bytes, more of them. */
const SYNCS = 3;
const SYNCS_BEHIND = 5;
/** Packets of 188 bytes, also with a time in front or a checksum behind (BDAV, DVB ASI). */
const STRIDES = [PACKET_BYTES, 192, 204];
/** PNG, JPEG, GIF, BMP and WebP. */
const PICTURE = /^(\x89PNG|\xff\xd8\xff|GIF8|BM|RIFF)/;
const EBML = 0x1a45dfa3;
/** Elements that parts of a WebM begin with: Segment, Cluster, Cues, Tags. */
const WEBM = new Set([EBML, 0x18538067, 0x1f43b675, 0x1c53bb6b, 0x1254c367]);
/** Bytes that have the start of two frames of audio. */
const AUDIO_HEAD_BYTES = 4 * 1024;

/**
 * Checks a segment, an initialization section or a file:
 * - MPEG-TS: packets of 188 bytes, whose timestamps span the stated duration;
 * - MP4: a chain of boxes, an `mdat` after every `moof` whose samples are in it, all fragments that an index lists, and the stated duration;
 * - packed audio: frames with a size, whose number yields the duration.
 */
export function createSegmentCheck(options: SegmentCheckOptions = {}): SegmentCheck {
  const { seconds = 0, isSegment = false, isLast = false, isNominal = false, isInit, isPart = false } = options;
  const { expected = () => undefined } = options;
  // The last segment of a list may be shorter than all others that it states.
  const mp4 = { ...options, seconds: isLast || isNominal ? 0 : seconds };
  let head: Buffer = Buffer.alloc(0);
  /** Bytes with which the head is looked at again: it may arrive byte by byte. */
  let neededBytes = MIN_MEDIA_BYTES;
  let kind: SegmentKind | undefined;
  let foreignBytes = 0;
  let rules: (Partial<Pick<SegmentCheck, 'tracks'>> & Pick<SegmentCheck, 'update' | 'problem'>) | undefined;

  const recognize = (isWhole: boolean): void => {
    const offset = findPackets(head, isWhole);
    if (offset === 0) kind = 'mpegts';
    else if (createMp4Check(head)) kind = 'mp4';
    else if ((isWhole || head.length >= AUDIO_HEAD_BYTES) && createAudioCheck(head, seconds)) kind = 'audio';
    else if (isOther(head)) kind = head.length >= 4 && WEBM.has(head.readUInt32BE()) ? 'webm' : 'other';
    else if (offset !== undefined) kind = offset < 0 ? 'other' : 'mpegts';
    else if (isWhole || head.length >= MAX_HEAD_BYTES) kind = isId3Tag(head) ? 'audio' : 'unknown';
    // Not the rest of a packet that the segment before begins.
    if (kind === 'mpegts' && PICTURE.test(head.toString('latin1', 0, 4))) foreignBytes = offset ?? 0;
    if (kind === 'mpegts') rules = createMpegTsCheck(seconds, isPart, isInit);
    else rules = kind === 'mp4' || kind === 'audio' ? createFrameRules(kind) : undefined;
    rules?.update(head.subarray(Math.max(offset ?? 0, 0)));
  };

  const createFrameRules = (found: 'mp4' | 'audio') => {
    const boxes = found === 'mp4' ? createMp4Check(head, mp4) : undefined;
    const frames = boxes ?? createAudioCheck(head, seconds);
    if (!frames) return undefined;
    const scanner = createFrameScanner(frames);
    return {
      get tracks() {
        return boxes?.tracks;
      },
      update: scanner.update,
      problem() {
        const state = scanner.state();
        if (state === 'cut') return 'ends within a frame';
        // FFmpeg would take the segments that follow for the rest of it.
        if (state === 'endless' && isSegment && !isLast) return 'a box without an end';
        if (state === 'unknown' && !isSegment) return undefined;
        return state === 'unknown' && found === 'mp4' ? 'no chain of boxes' : frames.problem();
      },
    };
  };

  const misfit = (): string | undefined => {
    const listed = expected();
    if (kind === 'unknown') return isSegment && listed !== 'other' ? 'no media' : undefined;
    const isMisfit = kind && listed && ![kind, 'other'].includes(listed) && kind !== 'other';
    return isMisfit ? `${kind} in a list of ${listed}` : undefined;
  };

  return {
    get kind() {
      return kind;
    },
    get isAccepted() {
      return kind !== undefined && misfit() === undefined;
    },
    get foreignBytes() {
      return foreignBytes;
    },
    get tracks() {
      return rules?.tracks;
    },
    update(chunk) {
      if (kind) return rules?.update(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length < neededBytes) return;
      neededBytes = Math.min(2 * head.length, MAX_HEAD_BYTES);
      recognize(false);
    },
    problem() {
      if (head.length === 0) return 'empty';
      if (head.length < MIN_MEDIA_BYTES) return 'ends within a frame';
      if (!kind) recognize(true);
      return misfit() ?? rules?.problem();
    },
  };
}

/** Where MPEG-TS begins, also behind other bytes; −1: with packets of another length. Undefined: not found, or not yet. */
function findPackets(head: Buffer, isWhole: boolean): number | undefined {
  const hasPackets = (start: number, stride: number, count: number) => {
    const found = Math.min(count, Math.ceil((head.length - start) / stride));
    if (found < count && !isWhole) return false;
    return found > 0 && Array.from({ length: found }, (_, n) => head[start + n * stride]).every((b) => b === SYNC_BYTE);
  };
  const first = isId3Tag(head) ? id3TagBytes(head) : 0;
  if (hasPackets(first, PACKET_BYTES, SYNCS)) return first;
  for (let at = head.indexOf(SYNC_BYTE); at >= 0 && at < MAX_HEAD_BYTES; at = head.indexOf(SYNC_BYTE, at + 1)) {
    if (at + SYNCS_BEHIND * PACKET_BYTES > head.length) break;
    const stride = STRIDES.find((each) => hasPackets(at, each, SYNCS_BEHIND));
    if (stride) return stride === PACKET_BYTES ? at : -1;
  }
  return undefined;
}

/** Whether the bytes are media that FFmpeg reads, of a container without rules here. */
function isOther(head: Buffer): boolean {
  // The last two: H.264 and H.265 without a container.
  if (WEBM.has(head.readUInt32BE()) || head.readUInt32BE() === 1 || head.readUIntBE(0, 3) === 1) return true;
  if (/^(OggS|RIFF|RF64|caff|WEBVTT|\ufeffWEBVTT)/.test(head.toString('utf8', 0, 9))) return true;
  return !isId3Tag(head) && sniff(head) !== undefined;
}
