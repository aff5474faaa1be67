import type { Chapter, Details, Thumbnail } from '../../state/index.ts';
import { bounded } from './metadata.ts';
import { type Info, infoList, positiveInteger, text, webUrl, withoutAbsent } from './yt-dlp-info.ts';

/** UTF-16 code units. */
const MAX_DESCRIPTION_LENGTH = 10_000;
const MAX_TAG_LENGTH = 100;
const MAX_CHAPTER_TITLE_LENGTH = 200;
const MAX_TAGS = 50;
const MAX_CHAPTERS = 200;
const MAX_THUMBNAILS = 10;
const MAX_THUMBNAIL_URL_LENGTH = 2_048;

/** Description, date, tags, chapters and thumbnails of an item; undefined when it has none of them. */
export function readDetails(info: Info): Details | undefined {
  const details = withoutAbsent<Details>({
    description: bounded(text(info.description), MAX_DESCRIPTION_LENGTH) ?? undefined,
    uploadDate: dateOf(info.upload_date) ?? dateOf(info.release_date),
    tags: listed(tagsOf(info.tags)),
    chapters: listed(infoList(info.chapters).slice(0, MAX_CHAPTERS).flatMap(readChapter)),
    thumbnails: listed(readThumbnails(info)),
  });
  return Object.keys(details).length > 0 ? details : undefined;
}

const listed = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** yt-dlp's `YYYYMMDD` as ISO 8601; undefined for a date that does not exist. */
function dateOf(value: unknown): string | undefined {
  const iso = text(value)?.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  const date = iso && /^\d{4}-\d{2}-\d{2}$/.test(iso) ? new Date(iso) : undefined;
  return date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso ?? '') ? iso : undefined;
}

const tagsOf = (value: unknown): string[] => {
  const tags = Array.isArray(value) ? value.flatMap((tag) => bounded(text(tag), MAX_TAG_LENGTH) ?? []) : [];
  return [...new Set(tags)].slice(0, MAX_TAGS);
};

function readChapter({ title, start_time, end_time }: Info): Chapter[] {
  const startSeconds = secondsOf(start_time);
  if (startSeconds === undefined) return [];
  const endSeconds = secondsOf(end_time);
  const hasEnd = endSeconds !== undefined && endSeconds > startSeconds;
  return [{ title: bounded(text(title), MAX_CHAPTER_TITLE_LENGTH), startSeconds, ...(hasEnd && { endSeconds }) }];
}

const secondsOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value < 1e7 ? value : undefined;

/** yt-dlp sorts them worst first. */
function readThumbnails(info: Info): Thumbnail[] {
  const thumbnails = infoList(info.thumbnails).toReversed().flatMap(readThumbnail);
  return thumbnails
    .filter(({ url }, index) => thumbnails.findIndex((other) => other.url === url) === index)
    .slice(0, MAX_THUMBNAILS);
}

function readThumbnail({ url: value, width, height }: Info): Thumbnail[] {
  const url = webUrl(value);
  if (!url || url.length > MAX_THUMBNAIL_URL_LENGTH) return [];
  return [withoutAbsent<Thumbnail>({ url, width: positiveInteger(width), height: positiveInteger(height) })];
}
