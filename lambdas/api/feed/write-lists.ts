import type { Resource } from '../../../core/state/index.ts';
import type { Feed } from './feed.ts';

/** A playlist for players: extended M3U in UTF-8. */
export function writeM3u8({ title, imageUrl, items }: Feed): string {
  const lines = [
    '#EXTM3U',
    `#PLAYLIST:${oneLine(title)}`,
    ...(imageUrl ? [`#EXTIMG:${oneLine(imageUrl)}`] : []),
    ...items.flatMap((item) => [
      // A comma ends the duration only; titles may have more of them. -1: unknown or live.
      `#EXTINF:${item.durationSeconds && !item.isLive ? Math.round(item.durationSeconds) : -1},${nameOf(item)}`,
      item.media.url,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const nameOf = ({ author, title }: Pick<Feed, 'author' | 'title'>): string =>
  oneLine(author && !title.includes(author) ? `${author} - ${title}` : title);

/** A title must not become a line of its own. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

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
