export { type Chapter, type ChapterMark, chaptersWithin, timeChapters } from './chapters.ts';
export { chaptersInText, MAX_CHAPTER_TITLE_LENGTH, MAX_CHAPTERS } from './chapters-in-text.ts';
export { markSegments } from './mark-segments.ts';
