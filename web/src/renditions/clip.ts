import type { ClipTimes, StreamOptions } from '../api/index.ts';
import type { Choice } from './choice.ts';
import { featuresOf } from './conversions.ts';

/** Whether the service can send parts of it: of MP4 that it can seek in, and of conversions. */
export const isClippable = ({ canSeek, container, rendition: { convertTo } }: Choice): boolean =>
  canSeek !== false && (convertTo ? featuresOf(convertTo).cuts !== 'none' : /^(MP4|M4A|M4V)$/.test(container));

/** Whether the service can leave parts out of it. */
export const isSkippable = (choice: Choice): boolean =>
  isClippable(choice) && featuresOf(choice.rendition.convertTo ?? '').holds.includes('parts');

/** Whether its file has room for subtitles. */
export const holdsSubtitles = ({ group, container }: Choice): boolean => group === 'video' && container === 'MP4';

/** A choice whose file differs from its rendition. @param share of the rendition that remains */
export const changed = (choice: Choice, options: StreamOptions, share = 1): Choice => ({
  ...choice,
  ...options,
  ...(options.clip && { label: `${choice.label} ${clipName(options.clip)}` }),
  isSizeEstimate: true,
  sizeBytes: choice.sizeBytes && Math.round(choice.sizeBytes * share),
});

const FIRST_CLIP_SECONDS = 30;

/** The initial part when trimming starts: from the playback position, within the duration. */
export function clipFrom(seconds: number, durationSeconds: number): ClipTimes {
  const lengthSeconds = Math.min(FIRST_CLIP_SECONDS, Math.max(1, Math.round(durationSeconds)));
  const startSeconds = Math.max(0, Math.floor(Math.min(seconds, durationSeconds - lengthSeconds)));
  return { startSeconds, endSeconds: startSeconds + lengthSeconds };
}

/** Seconds of segments, which may overlap. */
export function secondsOfSegments(segments: readonly ClipTimes[]): number {
  let [seconds, end] = [0, 0];
  for (const segment of segments.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    seconds += Math.max(0, segment.endSeconds - Math.max(end, segment.startSeconds));
    end = Math.max(end, segment.endSeconds);
  }
  return seconds;
}

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
