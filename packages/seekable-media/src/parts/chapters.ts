import { endOrInfinity, keptParts, type SkipCategory, type SkipSegment, type Span } from './skipping.ts';

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
const MIN_CHAPTER_SECONDS = 0.05;

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
    .filter(({ startSeconds, endSeconds }) => endSeconds - startSeconds >= MIN_CHAPTER_SECONDS)
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

const TITLES: Readonly<Record<SkipCategory, string>> = {
  sponsor: 'Sponsor',
  selfpromo: 'Self-promotion',
  interaction: 'Interaction reminder',
  intro: 'Intro',
  outro: 'Outro',
  preview: 'Preview',
  hook: 'Hook',
  filler: 'Filler',
  music_offtopic: 'No music',
};

/** Shorter pieces come from rounded times. */
const MIN_PIECE_SECONDS = 1;

/**
 * Chapters with segments as chapters between them: a chapter goes on behind a segment. Of segments that overlap, the earlier
 * one is whole.
 * @param chapters in order
 */
export function markSegments(chapters: readonly Chapter[], segments: readonly SkipSegment[]): readonly Chapter[] {
  const marks: Chapter[] = [];
  for (const { startSeconds, endSeconds, category } of segments.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    const start = Math.max(startSeconds, marks.at(-1)?.endSeconds ?? 0);
    if (start < endSeconds) marks.push({ title: TITLES[category], startSeconds: start, endSeconds });
  }
  const pieces = chapters.flatMap(({ title, ...span }) =>
    keptParts({ ...span, skipped: marks }).map((part) => ({ title, ...part })),
  );
  const kept = pieces.filter((piece) => piece.endSeconds - piece.startSeconds >= MIN_PIECE_SECONDS);
  return [...marks, ...kept].toSorted((a, b) => a.startSeconds - b.startSeconds).slice(0, MAX_CHAPTERS);
}

/** UTF-16 code units. */
export const MAX_CHAPTER_TITLE_LENGTH = 200;
export const MAX_CHAPTERS = 200;
/** Fewer times in a text are usually not a list of chapters. */
const MIN_CHAPTERS = 3;
/** UTF-16 code units. A longer line is prose, and bounds the work on a line. */
const MAX_LINE_LENGTH = 300;
/** `0:00`, `75:30`, `1:02:03`. Every repetition is bounded: matching takes linear time. */
const TIME = /(?<![\d:.])(?:(\d{1,2}):)?(\d{1,3}):(\d\d)(?!:?\d)/g;
/** Before a time that begins a line: brackets, bullets, and the number of an item. */
const BEFORE = /^[^\p{L}]{0,12}$/u;
/** Behind a time that ends a line: a bracket. */
const BEHIND = /^[^\p{L}\p{N}]{0,4}$/u;
/** Between a time and its title: what closes a bracket before the title, and what opens one behind it. */
const BEFORE_TITLE = /[\s\p{Variation_Selector}\p{Pd}\p{Pe}\p{Cf}:;|.,~=>»▶►•*_]/u;
const BEHIND_TITLE = /[\s\p{Pd}\p{Ps}\p{Cf}:;|,~=<«•*_]/u;
/** Between a start and an end. */
const RANGE = /^[\s\p{Pd}~]{1,5}$/u;

type Position = 'first' | 'last';

/**
 * The chapters that a description lists, a line each, with the times before the titles or behind them: the first one at 0, at
 * least three, in ascending order and within the media. Of another list none, since its times may mean anything. Of several
 * lists, such as one in each language, the first.
 */
export function chaptersInText(text: string, durationSeconds: number): readonly ChapterMark[] {
  const lines = text.split('\n').filter(({ length }) => length <= MAX_LINE_LENGTH);
  for (const position of ['first', 'last'] satisfies Position[]) {
    const marks = lines.flatMap((line) => readLine(line, position) ?? []);
    const [from, to] = marks.flatMap(({ startSeconds }, index) => (startSeconds === 0 ? index : []));
    const list = from === undefined ? [] : marks.slice(from, to);
    const isList =
      list.length >= MIN_CHAPTERS &&
      list.every(
        ({ startSeconds }, index) =>
          startSeconds < durationSeconds && startSeconds > (list[index - 1]?.startSeconds ?? -1),
      );
    if (isList) return list.slice(0, MAX_CHAPTERS);
  }
  return [];
}

/** The chapter of a line whose time, or its times of start and end, are at this position. */
function readLine(line: string, position: Position): ChapterMark | undefined {
  const times = [...line.matchAll(TIME)];
  const isRange = (at: number) =>
    times[at] && times[at + 1] && RANGE.test(line.slice(endOf(times[at]), times[at + 1]?.index));
  const at = position === 'first' ? 0 : Math.max(0, times.length - (isRange(times.length - 2) ? 2 : 1));
  const start = times[at];
  const last = isRange(at) ? times[at + 1] : start;
  if (!start || !last) return undefined;
  const [before, behind] = [line.slice(0, start.index), line.slice(endOf(last))];
  if (!(position === 'first' ? BEFORE.test(before) : BEHIND.test(behind))) return undefined;
  const title = trimSeparators(position === 'first' ? behind : before);
  const startSeconds = secondsOf(start);
  return title === '' || startSeconds === undefined ? undefined : { title, startSeconds };
}

const endOf = ({ 0: text, index }: RegExpExecArray): number => index + text.length;

function secondsOf([, hours, minutes, seconds]: RegExpExecArray): number | undefined {
  const isClock = Number(seconds) < 60 && (hours === undefined || Number(minutes) < 60);
  return isClock ? Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds) : undefined;
}

function trimSeparators(text: string): string {
  const characters = [...text.toWellFormed()];
  const first = characters.findIndex((character) => !BEFORE_TITLE.test(character));
  const last = characters.findLastIndex((character) => !BEHIND_TITLE.test(character));
  if (first < 0) return '';
  const title = characters.slice(first, last + 1).join('');
  return title.slice(0, MAX_CHAPTER_TITLE_LENGTH).replace(/[\ud800-\udbff]$/, '');
}
