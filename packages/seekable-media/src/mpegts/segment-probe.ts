import { fragmentTimes, indexBox, indexContent, parseInitTracks } from '../isobmff/index.ts';
import { id3TagBytes } from '../tags/id3.ts';
import {
  CLOCK_HZ,
  PACKET_BYTES,
  packetHeader,
  pidOf,
  readMapPid,
  readPesStart,
  readProgramMap,
  readSection,
  SYNC_BYTE,
  startedPayload,
} from './packets.ts';

/** Facts from the first bytes of a segment. */
export interface SegmentStart {
  /** Whether the first audio stream is AAC in ADTS frames; undefined when unknown. */
  readonly isFramedAac?: boolean | undefined;
  /** First timestamp, seconds; undefined when the format has no timestamps that other tracks share. */
  readonly startSeconds?: number | undefined;
}

/** Stream types of audio (§2.4.4.9, ATSC A/52 annex A): MPEG audio, AAC in ADTS frames, in LATM, AC-3, E-AC-3. */
const ADTS_AAC = 0x0f;
const AUDIO_TYPES = new Set([0x03, 0x04, ADTS_AAC, 0x11, 0x81, 0x87]);
/** Boxes that a file or a segment begins with (ISO/IEC 14496-12 §4.3, §8.16). */
const FIRST_BOXES = new Set(['ftyp', 'styp', 'moov', 'sidx', 'moof', 'emsg', 'prft', 'free']);
/** The first two bytes of AC-3 and of WebM. MPEG audio begins with eleven bits set, framed AAC with twelve and layer 0. */
const AC3 = 0x0b77;
const EBML = 0x1a45;

/** Reads the first bytes of consecutive segments. `isComplete`: more bytes would add nothing. */
export function probeSegmentStart(head: Buffer): SegmentStart & { readonly isComplete: boolean } {
  return probeMpegTs(head) ?? probeMp4(head) ?? probePackedAudio(head);
}

/** The types of the streams of the first program (§2.4.4.9). Empty when `head` is not MPEG-TS, or has no program map. */
export const readStreamTypes = (head: Buffer): readonly number[] => readMpegTsStart(head)?.types ?? [];

function probeMpegTs(head: Buffer) {
  const start = readMpegTsStart(head);
  if (!start) return undefined;
  const { types, startSeconds } = start;
  return {
    isFramedAac: types && types.find((type) => AUDIO_TYPES.has(type)) === ADTS_AAC,
    startSeconds,
    isComplete: types !== undefined && startSeconds !== undefined,
  };
}

/** The map of the first program, and the first timestamp of audio or video. Undefined when `head` is not MPEG-TS. */
function readMpegTsStart(head: Buffer): { readonly types?: number[]; readonly startSeconds?: number } | undefined {
  if (head[0] !== SYNC_BYTE || (head.length > PACKET_BYTES && head[PACKET_BYTES] !== SYNC_BYTE)) return undefined;
  let mapPid: number | undefined;
  let types: number[] | undefined;
  let ticks: number | undefined;
  for (let at = 0; at + PACKET_BYTES <= head.length && !(types && ticks !== undefined); at += PACKET_BYTES) {
    const payload = startedPayload(head, at);
    const pid = pidOf(packetHeader(head, at));
    if (!payload) continue;
    if (pid === 0) mapPid ??= readMapPid(readSection(payload));
    else if (pid === mapPid) types ??= readProgramMap(readSection(payload))?.map(({ type }) => type);
    else ticks ??= readPesStart(payload)?.ticks;
  }
  return { types, startSeconds: ticks === undefined ? undefined : ticks / CLOCK_HZ };
}

/** Fragmented MP4: the decode time of its first fragment. */
function probeMp4(head: Buffer) {
  const first = indexBox(head);
  if (!first || !FIRST_BOXES.has(first.type)) return undefined;
  try {
    const file = indexContent(head, 'file');
    const moof = file.find('moof');
    const moov = moof && file.find('moov');
    const starts = moov ? fragmentTimes(moof.whole, parseInitTracks(moov.whole)).map(({ start }) => start) : [];
    return {
      isFramedAac: false,
      startSeconds: starts.length > 0 ? Math.min(...starts) : undefined,
      isComplete: moof !== undefined,
    };
  } catch {
    return { isFramedAac: false, startSeconds: undefined, isComplete: true }; // Damaged.
  }
}

/** Audio frames without a container, with or without an ID3 tag. FFmpeg counts them from 0, whatever the tag says. */
function probePackedAudio(head: Buffer) {
  const at = id3TagBytes(head);
  if (at + 2 > head.length) return { isComplete: false };
  const word = head.readUInt16BE(at);
  if ((word & 0xfff6) === 0xfff0) return { isFramedAac: true, isComplete: true };
  const isOther = (word & 0xffe0) === 0xffe0 || word === AC3 || word === EBML;
  return { isFramedAac: isOther ? false : undefined, isComplete: true };
}
