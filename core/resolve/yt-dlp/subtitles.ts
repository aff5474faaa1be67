import { SUBTITLE_SOURCES } from '../../media/subtitles/index.ts';
import { type Subtitle, subtitleId, type Track } from '../../state/index.ts';
import { type CookieReader, createCookieReader } from './cookies.ts';
import { readHeaders } from './tracks.ts';
import { type Info, infoList, isInfo, text, urlExpiresAt, webUrl, withoutAbsent } from './yt-dlp-info.ts';

/** Of one item. */
const MAX_SUBTITLES = 60;
const MAX_URL_CHARS = 8_192;
/** Of all their URLs: they are stored with the item. */
const MAX_TOTAL_URL_CHARS = 64 * 1024;
const MAX_LANGUAGE_LENGTH = 35;
const MAX_NAME_LENGTH = 100;

/** A subtitle file and the track that it is read from. */
export interface SubtitleTrack {
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
  isInfo(value) ? Object.entries(value).map(([language, files]) => [language, infoList(files)]) : [];

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
  const rank = ({ ext }: Info) => (SUBTITLE_SOURCES as readonly unknown[]).indexOf(ext);
  const readable = files.filter((file) => rank(file) >= 0 && isFile(file)).toSorted((a, b) => rank(a) - rank(b))[0];
  const url = webUrl(readable?.url);
  if (!readable || !url || url.length > MAX_URL_CHARS || !/^[\w-]+$/.test(language)) return [];
  if (language.length > MAX_LANGUAGE_LENGTH) return [];
  const formatId = `${isAutomatic ? 'captions' : 'subtitles'}:${language}`;
  const name = text(readable.name)?.toWellFormed().slice(0, MAX_NAME_LENGTH);
  return [
    {
      subtitle: { id: subtitleId({ language, isAutomatic }), formatId, language, isAutomatic, ...(name && { name }) },
      track: withoutAbsent<Track>({
        formatId,
        delivery: 'direct',
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

/** One file, and not the segments of a playlist. */
const isFile = ({ protocol }: Info): boolean =>
  protocol === undefined || protocol === null || /^https?$/.test(String(protocol));
