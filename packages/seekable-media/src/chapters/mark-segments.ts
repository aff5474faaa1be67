import { keptParts, type Segment, type SegmentCategory } from '../skipping/index.ts';
import type { Chapter } from './chapters.ts';
import { MAX_CHAPTERS } from './chapters-in-text.ts';

const TITLES: Readonly<Record<SegmentCategory, string>> = {
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
const MIN_SECONDS = 1;

/**
 * Chapters with segments as chapters between them: a chapter goes on behind a segment. Of segments that overlap, the earlier
 * one is whole.
 * @param chapters in order
 */
export function markSegments(chapters: readonly Chapter[], segments: readonly Segment[]): readonly Chapter[] {
  const marks: Chapter[] = [];
  for (const { startSeconds, endSeconds, category } of segments.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    const start = Math.max(startSeconds, marks.at(-1)?.endSeconds ?? 0);
    if (start < endSeconds) marks.push({ title: TITLES[category], startSeconds: start, endSeconds });
  }
  const pieces = chapters.flatMap(({ title, ...span }) =>
    keptParts({ ...span, skipped: marks }).map((part) => ({ title, ...part })),
  );
  const kept = pieces.filter((piece) => piece.endSeconds - piece.startSeconds >= MIN_SECONDS);
  return [...marks, ...kept].toSorted((a, b) => a.startSeconds - b.startSeconds).slice(0, MAX_CHAPTERS);
}
