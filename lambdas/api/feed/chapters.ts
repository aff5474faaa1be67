import type { Resource } from '../../../core/state/index.ts';

/** The chapters of an item as JSON Chapters 1.2 of the podcast namespace. */
export const writeChapters = ({ title, details }: Pick<Resource, 'title' | 'details'>): string =>
  JSON.stringify({
    version: '1.2.0',
    ...(title && { title }),
    chapters: (details?.chapters ?? []).map((chapter) => ({
      startTime: chapter.startSeconds,
      ...(chapter.endSeconds !== undefined && { endTime: chapter.endSeconds }),
      ...(chapter.title && { title: chapter.title }),
    })),
  });
