import type { ClipTimes } from '../api/index.ts';
import type { Choice, Segment, SegmentCategory } from './choice.ts';
import { cutsOf } from './conversions.ts';
import { withSuffix } from './file-name.ts';

/** Whether the service can send parts of it: of MP4 that it can seek in, and of conversions. */
export const isClippable = ({ canSeek, container, rendition: { convertTo } }: Choice): boolean =>
  canSeek !== false && (convertTo ? cutsOf(convertTo) !== 'none' : /^(MP4|M4A|M4V)$/.test(container));

/** A part of a choice as a choice of its own, named after its times: `Title (0-10–0-25.5).mp4`. */
export function clipOf(choice: Choice, clip: ClipTimes, durationSeconds: number): Choice {
  const times = clipName(clip);
  const share = Math.min(1, (clip.endSeconds - clip.startSeconds) / durationSeconds);
  return {
    ...partOf(choice, share),
    id: `${choice.id} ${times}`,
    label: `${choice.label} ${times}`,
    clip,
    fileName: withSuffix(choice.fileName, times.replaceAll(':', '-')),
  };
}

/** Whether the service can leave segments out of it. */
export const isSkippable = (choice: Choice): boolean =>
  isClippable(choice) && cutsOf(choice.rendition.convertTo ?? '') === 'parts';

/** Seconds of the segments of some categories, which may overlap. */
export function secondsOfSegments(segments: readonly Segment[], categories: readonly SegmentCategory[]): number {
  let [seconds, end] = [0, 0];
  for (const segment of segments.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    if (!categories.includes(segment.category)) continue;
    seconds += Math.max(0, segment.endSeconds - Math.max(end, segment.startSeconds));
    end = Math.max(end, segment.endSeconds);
  }
  return seconds;
}

/** A choice without some segments. @param share of the whole that remains */
export const withoutSegments = (choice: Choice, skip: readonly SegmentCategory[], share: number): Choice => ({
  ...partOf(choice, share),
  skip,
});

const partOf = (choice: Choice, share: number): Choice => ({
  ...choice,
  isSizeEstimate: true,
  ...(choice.sizeBytes !== undefined && { sizeBytes: Math.round(choice.sizeBytes * share) }),
});

/** `0:10–0:25.5`. */
export const clipName = ({ startSeconds, endSeconds }: ClipTimes): string =>
  `${formatTime(startSeconds)}–${formatTime(endSeconds)}`;

/** `1:05.5`, `1:02:03`. */
export function formatTime(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const [whole, rest] = [Math.floor(tenths / 10) % 60, tenths % 10];
  const padded = String(whole).padStart(2, '0') + (rest ? `.${rest}` : '');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${padded}` : `${minutes}:${padded}`;
}

const TIME = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6}(?:[.,]\d{1,3})?)$/;

/** Seconds of a time as a visitor enters it: `65`, `1:05.5`, `1:02:03`. Undefined when it is none. */
export function parseTime(text: string): number | undefined {
  const [, hours = '0', minutes = '0', seconds] = TIME.exec(text.trim()) ?? [];
  return seconds === undefined
    ? undefined
    : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
}
