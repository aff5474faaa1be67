import {
  BOX_HEADER_BYTES,
  type InitTrack,
  parseBoxHeader,
  parseInitTracks,
  parseSegmentIndex,
  totalRuns,
} from '../isobmff/index.ts';
import { describeShortfall, type FrameCheck } from './frame-scanner.ts';

/** Boxes that a file or a segment may begin with (ISO/IEC 14496-12, 23000-19, 23009-1). */
const FIRST = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid']);
/** Boxes that are read as a whole. */
const READ = new Set(['sidx', 'moov', 'moof']);
/** A larger one is skipped: this is enough for some 10,000 fragments in an index, or samples in all fragments together. */
const MAX_READ_BYTES = 128 * 1024;
/** Bytes of media that no sample refers to, at most: writers may align samples. */
const MAX_UNUSED_SHARE = 1 / 16;

export interface Mp4CheckOptions {
  /** Duration that its list states; 0 when that is no measure. @default 0 */
  readonly seconds?: number;
  /** It is a byte range of a file: an index lists other ranges, too. @default false */
  readonly isPart?: boolean;
  /** Those of its initialization section, where it has none of its own. */
  readonly tracks?: () => readonly InitTrack[] | undefined;
}

interface Mp4Check extends FrameCheck {
  /** Of its `moov`. */
  readonly tracks: readonly InitTrack[] | undefined;
}

/** Checks MP4 (ISO/IEC 14496-12 §4.2). Undefined when `head` is not MP4. */
export function createMp4Check(
  head: Buffer,
  { seconds = 0, isPart = false, tracks }: Mp4CheckOptions = {},
): Mp4Check | undefined {
  if (!FIRST.has(head.toString('latin1', 4, 8))) return undefined;
  let own: readonly InitTrack[] | undefined;
  let listedSeconds = seconds;
  /** Bytes behind fragments, and those that they describe. */
  let mediaBytes = 0;
  let usedBytes = 0;
  /** Of those that were read. */
  let fragmentBytes = 0;
  /** What the fragments of each track describe; its duration is NaN where its movie tells that of each sample. */
  const totals = new Map<number, { samples: number; duration: number }>();
  let openFragments = 0;
  let hasMedia = false;
  let hasData = false;
  /** Bytes of all boxes so far, and the minimum according to an index. */
  let bytes = 0;
  let indexedBytes = 0;

  const addFragment = (moof: Buffer): void => {
    for (const { id, samples, bytes, duration } of totalRuns(moof)) {
      const before = totals.get(id) ?? { samples: 0, duration: 0 };
      totals.set(id, { samples: before.samples + samples, duration: before.duration + duration });
      usedBytes += bytes;
    }
  };
  /** Of the longest track: pictures may end before the sound does. */
  const describedSeconds = (): number => {
    const known = tracks?.() ?? own ?? [];
    const lengths = [...totals].map(([id, { samples, duration }]) => {
      const track = known.find((each) => each.id === id);
      return track ? (duration || samples * track.sampleDuration) / track.timescale : Number.POSITIVE_INFINITY;
    });
    return Math.max(...lengths);
  };

  return {
    get tracks() {
      return own;
    },
    headerBytes: BOX_HEADER_BYTES,
    mayBegin: () => true,
    read(header) {
      const type = header.toString('latin1', 4, 8);
      if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return undefined;
      const { headerBytes, size } = parseBoxHeader(header);
      if (size === undefined) return { needs: headerBytes };
      const isRead = READ.has(type) && size <= MAX_READ_BYTES - (type === 'moof' ? fragmentBytes : 0);
      if (isRead && header.length < size) return { needs: size };
      try {
        if (type === 'moov' && isRead) own ??= parseInitTracks(header);
        if (type === 'moof') {
          fragmentBytes += header.length;
          addFragment(header);
        }
      } catch {
        // Encrypted, malformed or too large: FFmpeg tells.
        usedBytes = Number.NaN;
        listedSeconds = 0;
      }
      if (type === 'moof') openFragments += 1;
      if (type === 'mdat') {
        // Not that of a movie in front of its fragments.
        if (openFragments > 0) mediaBytes += size - headerBytes;
        openFragments = Math.max(openFragments - 1, 0);
        hasData = true;
      }
      if (type === 'mdat' || type === 'moov') hasMedia = true;
      bytes += size;
      if (type === 'sidx') indexedBytes = Math.max(indexedBytes, bytes + indexedMediaBytes(header));
      return size;
    },
    problem() {
      if (openFragments > 0) return 'last fragment has no mdat';
      // Without mdat this is an initialization section, whose index describes other files.
      if (hasData && !isPart && bytes < indexedBytes) return `${bytes} bytes of ${indexedBytes} in its index`;
      if (!hasMedia || totals.size === 0) return hasMedia ? undefined : 'no media';
      if (mediaBytes - usedBytes > mediaBytes * MAX_UNUSED_SHARE)
        return `samples of ${usedBytes} bytes in ${mediaBytes}`;
      return describeShortfall(describedSeconds(), listedSeconds);
    },
  };
}

/** Bytes from the end of a `sidx` to the end of the last entry; 0 when it is truncated. */
function indexedMediaBytes(sidx: Buffer): number {
  const index = parseSegmentIndex(sidx);
  return index ? index.entries.reduce((sum, { size }) => sum + size, index.firstOffset) : 0;
}
