import { writeSubtitles } from '../../../core/media/subtitles/index.ts';
import type { PictureGrid, Storyboard as SiteStoryboard } from '../../../core/state/index.ts';

/** The pictures of an item for seeking: how they are placed on sheets, and when each begins to be shown. */
export interface Storyboard extends PictureGrid {
  /** Seconds, ascending. */
  readonly starts: readonly number[];
  readonly endSeconds: number;
}

/** A storyboard with equal intervals. */
export const withTimes = ({ width, height, rows, columns, intervalSeconds, count }: SiteStoryboard): Storyboard => ({
  ...{ width, height, rows, columns },
  starts: Array.from({ length: count }, (_, index) => index * intervalSeconds),
  endSeconds: count * intervalSeconds,
});

/**
 * WebVTT with a cue for each picture, whose text is its address with a media fragment (W3C Media Fragments URI §4.2.2).
 * @param prefix of the names of the sheets: where they are, relative to the file
 */
export function writeStoryboard(
  { width, height, rows, columns, starts, endSeconds }: Storyboard,
  prefix: string,
): string {
  const cues = starts.map((start, index) => {
    const place = index % (rows * columns);
    const [x, y] = [(place % columns) * width, Math.floor(place / columns) * height];
    return {
      startMs: Math.round(start * 1000),
      endMs: Math.round((starts[index + 1] ?? endSeconds) * 1000),
      text: `${prefix}${sheetName(Math.floor(index / (rows * columns)))}#xywh=${x},${y},${width},${height}`,
    };
  });
  // A picture without a time is never shown.
  return writeSubtitles(
    cues.filter(({ startMs, endMs }) => endMs > startMs),
    'vtt',
  );
}

/** Whatever its format: players look at the type. */
export const sheetName = (sheet: number): string => `${sheet}.jpg`;
