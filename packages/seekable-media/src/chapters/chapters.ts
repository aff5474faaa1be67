import { endOrInfinity, type Span } from '../skipping/index.ts';

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

/**
 * The chapters with a title and an end each, in the order and number of the marks.
 * @param durationSeconds of the media. @default unknown
 */
export const timeChapters = (marks: readonly ChapterMark[], durationSeconds?: number): readonly Chapter[] =>
  marks.map(({ title, startSeconds, endSeconds }, at) => {
    const next = marks.find((mark) => mark.startSeconds > startSeconds)?.startSeconds;
    const end = endSeconds ?? next ?? Number.POSITIVE_INFINITY;
    return { title: title ?? `Chapter ${at + 1}`, startSeconds, endSeconds: endOrInfinity(end, durationSeconds) };
  });

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
  const own = new Map<Chapter, Chapter>();
  for (const { chapter, ...times } of shown)
    own.set(chapter, {
      title: chapter.title,
      ...times,
      startSeconds: own.get(chapter)?.startSeconds ?? times.startSeconds,
    });
  return [...own.values()]
    .filter(({ startSeconds }, at, all) => startSeconds !== all[at - 1]?.startSeconds)
    .map((each, at, all) => ({
      ...each,
      endSeconds: Math.min(each.endSeconds, all[at + 1]?.startSeconds ?? Number.POSITIVE_INFINITY),
    }));
}
