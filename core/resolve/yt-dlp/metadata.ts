import { type Info, infoList, positiveNumber, text, webUrl } from './yt-dlp-info.ts';

/** UTF-16 code units of a title or an author. */
const MAX_TEXT_LENGTH = 500;
/** A longer URL usually contains the image itself. */
const MAX_COVER_URL_LENGTH = 2_048;

export interface Metadata {
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
}

/** Title, author and cover of an item or a playlist. */
export const readMetadata = (info: Info): Metadata => ({
  // yt-dlp appends the current time to the `title` of a live item, not to `fulltitle`.
  title: bounded(text(info.fulltitle) ?? text(info.title)),
  author: bounded(authorOf(info)),
  coverUrl: coverOf(info),
});

const authorOf = (info: Info): string | undefined =>
  text(info.uploader) ??
  names(info.creators) ??
  names(info.artists) ??
  text(info.channel) ??
  text(info.creator) ??
  text(info.artist) ??
  text(info.album_artist) ??
  text(info.playlist_uploader) ??
  text(info.uploader_id);

const names = (value: unknown): string | undefined =>
  Array.isArray(value) ? text(value.flatMap((name) => text(name) ?? []).join(', ')) : undefined;

/** The largest square thumbnail (cover art), else the one yt-dlp prefers. */
function coverOf(info: Info): string | null {
  const thumbnails = infoList(info.thumbnails);
  const squares = thumbnails.filter(({ width, height }) => positiveNumber(width) !== undefined && width === height);
  const largest = squares.toSorted((a, b) => Number(b.width) - Number(a.width))[0];
  return coverUrl(largest?.url) ?? coverUrl(info.thumbnail) ?? coverUrl(thumbnails.at(-1)?.url) ?? null;
}

const coverUrl = (value: unknown): string | undefined => {
  const url = webUrl(value);
  return url && url.length <= MAX_COVER_URL_LENGTH ? url : undefined;
};

/** Truncated, without half of a surrogate pair at the end. */
export const bounded = (value: string | undefined, maxLength = MAX_TEXT_LENGTH): string | null =>
  value
    ?.toWellFormed()
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, '') ?? null;
