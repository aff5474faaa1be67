import { type FragmentList, unpackFragments } from '../../media/dash/index.ts';
import { positiveInteger, positiveNumber, withoutAbsent } from '../../media/index.ts';
import { type Info, isInfo, text, webUrl } from '../../parsing/index.ts';
import type { Storyboard, Track } from '../../state/index.ts';
import { createCookieReader, readHeaders, urlExpiresAt } from './requests.ts';

/** Pixels. */
const MAX_SIDE = 1000;
const MAX_ROWS = 50;
/** Pictures of a storyboard: a day at intervals of 20 seconds. */
const MAX_PICTURES = 5000;
/** The URLs of the sheets are stored with the item. */
const MAX_URL_CHARS = 64 * 1024;

/** A storyboard and the track of its sheets. */
export interface StoryboardTrack {
  readonly storyboard: Storyboard;
  readonly track: Track;
}

/**
 * A storyboard as yt-dlp describes it; undefined without a place and a time of each picture. Slides, which it describes
 * alike, have neither.
 * @param now epoch seconds
 */
export function readStoryboardFormat(format: Info, now: number): StoryboardTrack | undefined {
  const [width, height] = [format.width, format.height].map((side) => integerUpTo(side, MAX_SIDE));
  const [rows, columns] = [format.rows, format.columns].map((each) => integerUpTo(each, MAX_ROWS));
  const framesPerSecond = positiveNumber(format.fps);
  if (!width || !height || !rows || !columns || !framesPerSecond || !isInfo(format.fragments)) return undefined;
  const fragments = format.fragments as unknown as FragmentList;
  const fragmentBaseUrl = webUrl(format.fragment_base_url, webUrl(format.url)) ?? webUrl(format.url);
  const sheets = [...unpackFragments(fragments)];
  const url = webUrl(sheets[0]?.url, fragmentBaseUrl);
  const seconds = sheets.reduce((sum, sheet) => sum + sheet.seconds, 0);
  const count = Math.min(Math.round(seconds * framesPerSecond), sheets.length * rows * columns);
  const chars = fragments.urls.length + (fragmentBaseUrl?.length ?? 0);
  if (!url || chars > MAX_URL_CHARS || count < 1 || count > MAX_PICTURES) return undefined;
  const formatId = `storyboard:${text(format.format_id) ?? ''}`;
  return {
    storyboard: { formatId, width, height, rows, columns, intervalSeconds: 1 / framesPerSecond, count },
    track: withoutAbsent<Track>({
      ...{ formatId, delivery: 'direct', url, fragments, fragmentBaseUrl },
      headers: readHeaders(format.http_headers),
      cookies: createCookieReader()(format, url),
      urlExpiresAt: urlExpiresAt(url, now),
      ...{ container: 'jpg', video: null, audio: null, sizeIsExact: false },
    }),
  };
}

const integerUpTo = (value: unknown, max: number): number | undefined => {
  const integer = positiveInteger(value);
  return integer && integer <= max ? integer : undefined;
};
