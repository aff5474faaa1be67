import { id3TagBytes } from '../id3/index.ts';
import { fragmentTimes, indexBox, indexContent, parseInitTracks } from '../isobmff/index.ts';
import { probeMpegTsStart, type SegmentStart } from './mpegts-probe.ts';

/** Boxes that a file or a segment begins with (ISO/IEC 14496-12 §4.3, §8.16). */
const FIRST_BOXES = new Set(['ftyp', 'styp', 'moov', 'sidx', 'moof', 'emsg', 'prft', 'free']);
/** The first two bytes of AC-3 and of WebM. MPEG audio begins with eleven bits set, framed AAC with twelve and layer 0. */
const AC3 = 0x0b77;
const EBML = 0x1a45;

/** Reads the first bytes of consecutive segments. `isComplete`: more bytes would add nothing. */
export function probeSegmentStart(head: Buffer): SegmentStart & { readonly isComplete: boolean } {
  return probeMpegTsStart(head) ?? probeMp4(head) ?? probePackedAudio(head);
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
