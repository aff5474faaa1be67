import { chaptersInText, MAX_CHAPTER_TITLE_LENGTH, MAX_CHAPTERS } from '@reelay/seekable-media/parts/chapters';
import { SUBTITLE_SOURCES } from '@reelay/seekable-media/text/subtitles';
import { positiveInteger, positiveNumber, withoutAbsent } from '@reelay/seekable-media/values';
import { type Info, infoList, isInfo, text, webUrl } from '../../parsing/index.ts';
import {
  type Chapter,
  type Details,
  findDelivery,
  type ResourceOrigin,
  type Subtitle,
  subtitleId,
  type Thumbnail,
  type Track,
} from '../../state/index.ts';
import { type CookieReader, createCookieReader, readHeaders, urlExpiresAt } from './requests.ts';

/** UTF-16 code units of a title or an author. */
const MAX_TEXT_LENGTH = 500;
/** A longer URL usually contains the image itself. */
const MAX_COVER_URL_LENGTH = 2_048;

export interface Metadata {
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
}

/** What tells an item from the others of its page. */
export type Identity = Pick<ResourceOrigin, 'extractor' | 'entryId'>;

/** Reads yt-dlp's `extractor_key` and `id`. */
export const identify = (info: Info): Identity => ({
  extractor: text(info.extractor_key) ?? text(info.ie_key) ?? 'Generic',
  entryId: typeof info.id === 'number' ? String(info.id) : (text(info.id) ?? ''),
});

/** Title, author and cover of an item or a playlist. */
export const readMetadata = (info: Info): Metadata => ({
  title: truncate(titleOf(info)),
  author: truncate(authorOf(info)),
  coverUrl: coverOf(info),
});

/** Names of files that say nothing of what is in them. */
const NAMELESS = /^(?:index|master|playlist|manifest|main)$/i;

/** What a bare link with such a name is called instead: by its host and folder, `media.example – channel`. */
function titleOf({ fulltitle, title, extractor_key, webpage_url }: Info): string | undefined {
  // yt-dlp appends the current time to the `title` of a live item, not to `fulltitle`.
  const found = text(fulltitle) ?? text(title);
  const url = extractor_key === 'Generic' && NAMELESS.test(found ?? '') ? URL.parse(text(webpage_url) ?? '') : null;
  if (!url) return found;
  const folder = url.pathname.split('/').at(-2) ?? '';
  // Escapes are no words.
  return folder === '' || folder.includes('%') ? url.hostname : `${url.hostname} – ${folder}`;
}

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
export const truncate = (value: string | undefined, maxLength = MAX_TEXT_LENGTH): string | null =>
  value
    ?.toWellFormed()
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, '') ?? null;

interface AlbumPlace {
  readonly album?: string;
  /** From 1. */
  readonly trackNumber?: number;
}

const MAX_TRACK_NUMBER = 9999;

/** The album of a recording and its place there, or else the list on whose page it was found. */
export function readAlbum(info: Info): AlbumPlace {
  const album = text(info.album);
  const trackNumber = positiveInteger(album ? info.track_number : (info.track_number ?? info.playlist_index));
  return withoutAbsent<AlbumPlace>({
    album: truncate(album ?? text(info.playlist_title)) ?? undefined,
    trackNumber: trackNumber !== undefined && trackNumber <= MAX_TRACK_NUMBER ? trackNumber : undefined,
  });
}

/** UTF-16 code units. */
const MAX_DESCRIPTION_LENGTH = 10_000;
const MAX_TAG_LENGTH = 100;
const MAX_TAGS = 50;
const MAX_THUMBNAILS = 10;
const MAX_THUMBNAIL_URL_LENGTH = 2_048;

/**
 * Description, date, tags, chapters and thumbnails of an item; undefined when it has none of them. Chapters are those that
 * yt-dlp tells, else those that the description lists.
 * @param durationSeconds of the media. Undefined: unknown, and so are times in a description
 */
export function readDetails(info: Info, durationSeconds?: number): Details | undefined {
  const description = truncate(text(info.description), MAX_DESCRIPTION_LENGTH) ?? undefined;
  const listed = description && durationSeconds ? chaptersInText(description, durationSeconds) : [];
  const told = infoList(info.chapters).slice(0, MAX_CHAPTERS).flatMap(readChapter).toSorted(inOrder);
  const details = withoutAbsent<Details>({
    description,
    uploadDate: dateOf(info.upload_date) ?? dateOf(info.release_date),
    tags: unlessEmpty(tagsOf(info.tags)),
    chapters: unlessEmpty(told) ?? unlessEmpty(listed),
    thumbnails: unlessEmpty(readThumbnails(info)),
  });
  return Object.keys(details).length > 0 ? details : undefined;
}

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** yt-dlp's `YYYYMMDD` as ISO 8601; undefined for a date that does not exist. */
function dateOf(value: unknown): string | undefined {
  const iso = text(value)?.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
  const date = iso && /^\d{4}-\d{2}-\d{2}$/.test(iso) ? new Date(iso) : undefined;
  return date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso ?? '') ? iso : undefined;
}

const tagsOf = (value: unknown): string[] => {
  const tags = Array.isArray(value) ? value.flatMap((tag) => truncate(text(tag), MAX_TAG_LENGTH) ?? []) : [];
  return [...new Set(tags)].slice(0, MAX_TAGS);
};

function readChapter({ title, start_time, end_time }: Info): Chapter[] {
  const startSeconds = secondsOf(start_time);
  if (startSeconds === undefined) return [];
  const endSeconds = secondsOf(end_time);
  const hasEnd = endSeconds !== undefined && endSeconds > startSeconds;
  return [{ title: truncate(text(title), MAX_CHAPTER_TITLE_LENGTH), startSeconds, ...(hasEnd && { endSeconds }) }];
}

const inOrder = (a: Chapter, b: Chapter): number => a.startSeconds - b.startSeconds;

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

const MAX_SUBTITLES = 60;
const MAX_URL_CHARS = 8_192;
/** Bounds the URLs of all subtitles together: they are stored with the item. */
const MAX_TOTAL_URL_CHARS = 64 * 1024;
const MAX_LANGUAGE_LENGTH = 35;
const MAX_NAME_LENGTH = 100;

/** A subtitle file and the track that it is read from. */
interface SubtitleTrack {
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/**
 * The subtitle files of an item, one per language. Of automatic captions only those in the language that is spoken:
 * sites list a machine translation into every other one.
 * @param now epoch seconds
 */
export function readSubtitleTracks(info: Info, now: number): SubtitleTrack[] {
  const spoken = (language: string) => language.endsWith('-orig') || language === text(info.language);
  const automatic = languagesOf(info.automatic_captions);
  const original = automatic.filter(([language]) => spoken(language));
  const listed = [
    ...languagesOf(info.subtitles).map((entry) => [...entry, false] as const),
    ...(original.length > 0 ? original : automatic.slice(0, 1)).map((entry) => [...entry, true] as const),
  ];
  let remainingChars = MAX_TOTAL_URL_CHARS;
  const readCookies = createCookieReader();
  return listed
    .values()
    .flatMap(([language, files, isAutomatic]) => readSubtitle({ language, files, isAutomatic }, now, readCookies))
    .take(MAX_SUBTITLES)
    .filter(({ track }) => {
      remainingChars -= track.url.length;
      return remainingChars >= 0;
    })
    .toArray();
}

const languagesOf = (value: unknown): [language: string, files: readonly Info[]][] =>
  Object.entries(isInfo(value) ? value : {}).flatMap(([language, files]) =>
    COMMENTS.includes(language) ? [] : [[language, infoList(files)]],
  );

/** What viewers have written, which extractors list as a language. */
const COMMENTS: readonly string[] = ['comments', 'danmaku', 'live_chat', 'rechat'];

interface ListedSubtitle {
  readonly language: string;
  /** The same subtitles in several formats. */
  readonly files: readonly Info[];
  readonly isAutomatic: boolean;
}

/** None when no file can be read. */
function readSubtitle(
  { language, files, isAutomatic }: ListedSubtitle,
  now: number,
  readCookies: CookieReader,
): SubtitleTrack[] {
  const rank = (file: Info) =>
    (SUBTITLE_SOURCES as readonly unknown[]).indexOf(file.ext) + (isList(file) ? SUBTITLE_SOURCES.length : 0);
  const readable = files
    .filter((file) => (isList(file) ? file.ext === 'vtt' : isFile(file) && rank(file) >= 0))
    .toSorted((a, b) => rank(a) - rank(b))[0];
  const url = webUrl(readable?.url);
  if (!readable || !url || url.length > MAX_URL_CHARS || !/^[\w-]+$/.test(language)) return [];
  if (language.length > MAX_LANGUAGE_LENGTH) return [];
  const formatId = `${isAutomatic ? 'captions' : 'subtitles'}:${language}`;
  const name = truncate(text(readable.name), MAX_NAME_LENGTH);
  return [
    {
      subtitle: { id: subtitleId({ language, isAutomatic }), formatId, language, isAutomatic, ...(name && { name }) },
      track: withoutAbsent<Track>({
        formatId,
        delivery: isList(readable) ? 'hls' : 'direct',
        url,
        headers: readHeaders(readable.http_headers),
        cookies: readCookies(readable, url),
        urlExpiresAt: urlExpiresAt(url, now),
        isForBrowsers: readable.impersonate === true ? true : undefined,
        container: String(readable.ext),
        video: null,
        audio: null,
        sizeIsExact: false,
      }),
    },
  ];
}

const isFile = ({ protocol }: Info): boolean =>
  protocol === undefined || protocol === null || /^https?$/.test(String(protocol));
/** Segments of WebVTT. */
const isList = ({ protocol }: Info): boolean => findDelivery(String(protocol)) === 'hls';
