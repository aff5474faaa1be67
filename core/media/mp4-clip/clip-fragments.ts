import { UnsupportedMp4 } from '../isobmff/index.ts';
import { type FragmentEntry, type FragmentIndex, timeFragments } from '../virtual-mp4/index.ts';
import type { ClipTimes } from './clip-window.ts';
import type { FileTracks } from './file-tracks.ts';
import { presentationTime } from './presentation-time.ts';

/** Every one is read for its `moof` before the first byte of the clip is sent. */
const MAX_CLIP_FRAGMENTS = 2000;
/** Audio starts earlier than requested: decoders need some before it, and the first frame may be shown before it. */
const AUDIO_MARGIN_SECONDS = 1;
/** `starts_with_SAP` of a `sidx` entry (ISO/IEC 14496-12 §8.16.3). */
const STARTS_WITH_SAP = 0x8000_0000;

/**
 * The fragments that may have samples of a clip, in the order of the file.
 * @param fileBytes size of the file
 * @throws UnsupportedMp4 when there are none, or too many
 */
export function clipFragments(
  index: FragmentIndex,
  { video, audio }: FileTracks,
  { startSeconds, endSeconds }: ClipTimes,
  fileBytes: number,
): readonly FragmentEntry[] {
  const timed = timeFragments(index, fileBytes);
  const shifts = [video, audio].flatMap((header) => (header ? presentationTime(header).shiftSeconds : []));
  // The time line of the index is that of one track: another one may have a sample of the same moment elsewhere.
  const margin = shifts.length > 1 ? 1 : 0;
  const from = startSeconds - Math.max(...shifts) - (audio ? AUDIO_MARGIN_SECONDS : 0);
  const until = endSeconds - Math.min(...shifts);
  let first = timed.findLastIndex((fragment) => fragment.startSeconds <= from) - margin;
  const hasAccessPoints = video !== undefined && timed.some(startsWithAccessPoint);
  while (first > 0 && hasAccessPoints && !startsWithAccessPoint(timed[first])) first -= 1;
  const next = timed.findIndex((fragment) => fragment.startSeconds >= until);
  const wanted = timed.slice(Math.max(0, first), next < 0 ? undefined : next + margin);
  if (wanted.length === 0) throw new UnsupportedMp4('Nothing is shown between start and end');
  if (wanted.length > MAX_CLIP_FRAGMENTS) throw new UnsupportedMp4('The clip is too long for a fragmented file');
  return wanted;
}

const startsWithAccessPoint = (fragment: FragmentEntry | undefined): boolean =>
  fragment !== undefined && fragment.accessPoint >= STARTS_WITH_SAP;
