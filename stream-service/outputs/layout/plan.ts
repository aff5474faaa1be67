import { type FileType, fileType, isQuickTime } from '@reelay/seekable-media/codecs';
import { isWhole } from '@reelay/seekable-media/parts/skipping';
import { type Name, nameOf } from '@reelay/source/names';
import { type AudioCopy, conversions } from '../../../core/conversions/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { versionOf } from '../../source/index.ts';
import type { PlannedExtras } from '../extras.ts';
import { COMBINED, type MuxPlan } from '../mux/index.ts';
import type { ClipTimes, PlannedOutput } from '../representation.ts';

/** What every plan of a layout says. */
export interface PlannedLayout extends PlannedOutput {
  readonly kind: 'layout';
  /** Its sources are the tracks: the first has the video, if there is one. */
  readonly found: KeyedRendition;
  /** Name of the layout, for any version of its sources. */
  readonly id: Name;
}

/** One file of all tracks, or of the audio of one alone. */
export interface FilePlan extends PlannedLayout, FilePart {
  readonly extras: PlannedExtras;
}

/** What one file has of its sources. */
export interface FilePart {
  /**
   * All of two files or more; a part of one or of several, or the whole; a list of segments, whose header is written here.
   */
  readonly of: 'pair' | 'part' | 'list';
  /** @default the whole */
  readonly times?: ClipTimes;
  /** It starts with the last keyframe at or before the start: without a wait for the frames in between. */
  readonly isFromKeyframe?: boolean;
  /** The audio alone, whose packets are copied. Absent: all tracks. */
  readonly audioAs?: AudioCopy;
  /** What is sent where the files have no layout. Absent: nothing can be. */
  readonly instead?: MuxPlan;
}

/** All of a file. */
export const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };
/** Known only once the headers of the files are read. */
export const UNKNOWN = { size: undefined, acceptRanges: undefined } as const;

/** @param found of MP4 files */
export function planFile(found: KeyedRendition, extras: PlannedExtras, part: FilePart): FilePlan {
  const { of, times = WHOLE, isFromKeyframe, audioAs, instead } = part;
  const { key, resource } = found;
  const { mimeType, fileExtension } = instead?.head ?? typeOf(found, audioAs);
  const clip = times === WHOLE || isWhole(times) ? undefined : nameClip(times, resource.durationSeconds);
  const versions = found.tracks.map((track) => versionOf(resource, track));
  // As JSON, infinity is `null`.
  const id = nameOf(versions, of, [key, audioAs?.container, isFromKeyframe, times]);
  const head = { ...instead?.head, mimeType, fileExtension, ...UNKNOWN, clip };
  return { kind: 'layout', found, extras, ...part, id, answersHead: false, head };
}

function typeOf({ rendition, tracks }: KeyedRendition, audioAs: AudioCopy | undefined): FileType {
  const [{ file, container, video }, second] = tracks;
  if (audioAs) return conversions[audioAs.container];
  if (second) return COMBINED;
  if (isQuickTime(container)) return fileType('mp4', video !== null);
  return file ? fileType(container, video !== null) : rendition;
}

/** The requested times, which name the clip; an end beyond the media is that of the media, in whole seconds. */
export const nameClip = ({ startSeconds, endSeconds }: ClipTimes, mediaEnd = endSeconds): ClipTimes => ({
  startSeconds,
  endSeconds: endSeconds <= mediaEnd ? endSeconds : Math.round(mediaEnd),
});
