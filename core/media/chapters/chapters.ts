import type { Span } from '../skipping/index.ts';

/** A chapter as its source tells it. Seconds. */
export interface ChapterMark {
  readonly title: string | null;
  readonly startSeconds: number;
  /** Absent: until the next one. */
  readonly endSeconds?: number;
}

/** A named part of a recording. Seconds. */
export interface Chapter {
  readonly title: string;
  readonly startSeconds: number;
  /** Infinite: to the end of the media. */
  readonly endSeconds: number;
}

/** Sources round durations: a chapter that ends this much before the end lasts to the end. */
const END_TOLERANCE_SECONDS = 1;

/**
 * The chapters with a title and an end each, in the order and number of the marks.
 * @param durationSeconds of the media. @default unknown
 */
export const timeChapters = (
  marks: readonly ChapterMark[],
  durationSeconds = Number.POSITIVE_INFINITY,
): readonly Chapter[] =>
  marks.map(({ title, startSeconds, endSeconds = marks[index(marks, startSeconds)]?.startSeconds }, at) => ({
    title: title ?? `Chapter ${at + 1}`,
    startSeconds,
    endSeconds:
      endSeconds === undefined || endSeconds > durationSeconds - END_TOLERANCE_SECONDS
        ? Number.POSITIVE_INFINITY
        : endSeconds,
  }));

/** Where the first mark behind a time is. */
const index = (marks: readonly ChapterMark[], seconds: number): number =>
  marks.findIndex(({ startSeconds }) => startSeconds > seconds);

/** Shorter pieces of chapters are left out of a part: they come from rounded times. */
const MIN_SECONDS = 0.05;

/**
 * The chapters of some parts of a recording that follow each other, by the times there: ascending, and none beyond another.
 * @param parts in order
 */
export function chaptersWithin(chapters: readonly Chapter[], parts: readonly Span[]): readonly Chapter[] {
  let outputSeconds = 0;
  const pieces = parts.flatMap((part) => {
    const shift = outputSeconds - part.startSeconds;
    outputSeconds = part.endSeconds + shift;
    return chapters.map((chapter) => ({
      chapter,
      startSeconds: Math.max(chapter.startSeconds, part.startSeconds) + shift,
      endSeconds: Math.min(chapter.endSeconds, part.endSeconds) + shift,
    }));
  });
  const shown = pieces
    .filter(({ startSeconds, endSeconds }) => endSeconds - startSeconds >= MIN_SECONDS)
    .toSorted((a, b) => a.startSeconds - b.startSeconds);
  // One that continues in the next part is a single one.
  const ends = new Map(shown.map(({ chapter, endSeconds }) => [chapter, endSeconds]));
  const own = [...Map.groupBy(shown, ({ chapter }) => chapter)]
    .map(([{ title }, [first]]) => ({ title, startSeconds: first?.startSeconds ?? 0, chapter: first?.chapter }))
    .filter(({ startSeconds }, at, all) => startSeconds !== all[at - 1]?.startSeconds);
  return own.map(({ title, startSeconds, chapter }, at) => ({
    title,
    startSeconds,
    endSeconds: Math.min(
      (chapter && ends.get(chapter)) ?? startSeconds,
      own[at + 1]?.startSeconds ?? Number.POSITIVE_INFINITY,
    ),
  }));
}
