import {
  BOX_HEADER_BYTES,
  type ByteSpan,
  boxHeader,
  displaySize,
  UnsupportedMp4,
  writeFragment,
  writeMovieHeader,
} from '../isobmff/index.ts';
import { type FragmentEntry, type FragmentIndex, timeFragments } from '../virtual-mp4/index.ts';
import { type ClipSource, parseClipTracks, startsWithAccessPoint } from './clip-sources.ts';
import { parsePresentationTime } from './clip-window.ts';

/** Frames of a video that are decoded by themselves, and what makes one file of them. */
export interface Keyframes {
  /** Pixels, as displayed. */
  readonly width: number;
  readonly height: number;
  /** What comes first in that file. */
  readonly header: Buffer;
  /** In the order of the video. At least one. */
  readonly frames: readonly Keyframe[];
}

export interface Keyframe {
  /** When it is shown in the video. */
  readonly seconds: number;
  /** Where it is in its file. */
  readonly span: ByteSpan;
  /** What precedes it in the file of the keyframes. */
  readonly header: Buffer;
}

export interface KeyframeLimits {
  /** Of the video: it is divided into equal intervals, of each of which there is one keyframe at most. */
  readonly durationSeconds: number;
  readonly maxCount: number;
  /** Of all keyframes: of too many bytes, every second one is left out. */
  readonly maxBytes: number;
}

const MIN_INTERVAL_SECONDS = 1;
/** Units per second in the file of the keyframes, in which each is shown for one second. */
const TIMESCALE = 1000;
/** Where the file does not say. */
const DEFAULT_SIZE = { width: 1280, height: 720 };

/**
 * The first keyframe of each interval of a video.
 * @throws UnsupportedMp4 when it has none, or samples beyond its end
 */
export function findKeyframes(source: ClipSource, limits: KeyframeLimits): Keyframes {
  const { video } = parseClipTracks(source, 0);
  if (!video) throw new UnsupportedMp4('No video');
  const { header, fileBytes } = video;
  const { shiftSeconds } = parsePresentationTime(header);
  const isNext = createIntervals(limits);
  const found: (Pick<Keyframe, 'seconds' | 'span'> & { readonly description: number })[] = [];
  for (const { isSync, decodeTime, compositionOffset, offset, size, description } of video.samples()) {
    if (!isSync || size === 0) continue;
    const seconds = (decodeTime + compositionOffset) / header.timescale + shiftSeconds;
    if (!isNext(seconds)) continue;
    if (!(offset >= 0 && offset + size <= fileBytes)) throw new UnsupportedMp4('A sample beyond the end of the file');
    found.push({ seconds: Math.max(0, seconds), span: { first: offset, bytes: size }, description });
    if (found.length === limits.maxCount) break;
  }
  const kept = thin(found, limits.maxBytes);
  if (kept.length === 0) throw new UnsupportedMp4('No keyframes');
  // The times of the video do not matter in the file: without an edit list, every frame is shown.
  const track = { ...header, timescale: TIMESCALE, edits: [], fragmentDefaults: undefined };
  return {
    ...(displaySize(header) ?? DEFAULT_SIZE),
    header: writeMovieHeader([{ header: track, durationSeconds: 0 }]),
    frames: kept.map(({ seconds, span, description }, index) => {
      const startTime = index * TIMESCALE;
      const moof = writeFragment({
        ...{ trackId: 1, startTime, sampleDescription: description, samples: [TIMESCALE, span.bytes] },
        ...{ hasFlags: false, hasCompositionOffsets: false },
      });
      return { seconds, span, header: Buffer.concat([moof, boxHeader('mdat', BOX_HEADER_BYTES + span.bytes)]) };
    }),
  };
}

function thin<Frame extends Pick<Keyframe, 'span'>>(frames: readonly Frame[], maxBytes: number): readonly Frame[] {
  const total = frames.reduce((sum, { span }) => sum + span.bytes, 0);
  if (total <= maxBytes) return frames;
  if (frames.length === 1) return [];
  const half = frames.filter((_, index) => index % 2 === 0);
  return thin(half, maxBytes);
}

/**
 * The first fragment of each interval, of those that begin with a keyframe if the index tells.
 * @throws UnsupportedMp4 when the index does not fit the file
 */
export function selectKeyframeFragments(
  index: FragmentIndex,
  fileBytes: number,
  limits: KeyframeLimits,
): readonly FragmentEntry[] {
  const timed = timeFragments(index, fileBytes);
  const hasAccessPoints = timed.some(startsWithAccessPoint);
  const isNext = createIntervals(limits);
  return timed
    .filter((entry) => (!hasAccessPoints || startsWithAccessPoint(entry)) && isNext(entry.startSeconds))
    .slice(0, limits.maxCount);
}

/** Returns what says of ascending times whether each is the first one of an interval. */
function createIntervals({ durationSeconds, maxCount }: KeyframeLimits): (seconds: number) => boolean {
  const intervalSeconds = Math.max(MIN_INTERVAL_SECONDS, durationSeconds / maxCount);
  let last = Number.NEGATIVE_INFINITY;
  return (seconds) => {
    // Times of samples are rounded to the units of the media.
    const interval = Math.floor(seconds / intervalSeconds + 0.01);
    if (interval <= last) return false;
    last = interval;
    return true;
  };
}
