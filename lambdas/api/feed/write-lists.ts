import { element, oneLine, textElement, XML_DECLARATION } from '../../../core/http/index.ts';
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

/**
 * The files of a list for download managers: Metalink (RFC 5854). A size is stated only where it is exact, since a file of
 * another size is refused. There are no hashes: no source tells one of what is sent.
 */
export function writeMetalink({ items }: Feed): string {
  // What is live has no end, and so is not a file.
  const recorded = items.filter(({ isLive }) => !isLive);
  const files = recorded.map(({ media: { path, bytes, url } }) =>
    element('file', textElement('size', bytes > 0 ? String(bytes) : undefined) + textElement('url', url), {
      name: path,
    }),
  );
  const metalink = element('metalink', textElement('generator', 'Reelay') + files.join(''), {
    xmlns: 'urn:ietf:params:xml:ns:metalink',
  });
  return `${XML_DECLARATION}${metalink}\n`;
}

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
