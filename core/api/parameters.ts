import { SEGMENT_CATEGORIES, type SkipCategory } from '@reelay/seekable-media/parts/skipping';
import { SUBTITLE_FORMATS } from '@reelay/seekable-media/text/subtitles';
import type { WindowTime, WindowTimes } from '@reelay/seekable-media/timeline';
import {
  conversionNames,
  findConversionName,
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  type Mp3BitrateKbps,
} from '../conversions/index.ts';
import { parseJobId } from './archive-progress.ts';
import { problems } from './problem.ts';
import { type EntrySelection, FEED_FORMATS, type Quality, type Selection, type WindowSelection } from './selection.ts';

/** The values of the query that are not blank. */
export type Texts = Readonly<Record<string, string | undefined>>;

/** A parameter of the query: what OpenAPI says of it, what it selects, and how a link selects it. */
export interface QueryParameter {
  readonly description: string;
  /** Every value there is: others are refused. Absent: the description says which there are. */
  readonly values?: readonly string[];
  /** Values with an effect, where others have none. */
  readonly examples?: readonly string[];
  /** Given more than once it is refused; of others the first counts. */
  readonly isUnique?: boolean;
  /** Parameters that it cannot be combined with. */
  readonly excludes?: readonly string[];
  /** Absent: the operation reads it by itself. @throws Problem 400 for another text */
  readonly select?: (text: string, query: Texts) => Partial<Selection>;
  /** The text that selects the same. Absent: it is in no link. */
  readonly write?: (selection: Selection) => string | number | boolean | undefined;
}

/** A parameter that one operation describes in other words. */
export const withDescription = (parameter: QueryParameter, description: string): QueryParameter => ({
  ...parameter,
  description,
});

/** @throws Problem 400 for none of the names, in any case */
function requireName<const Name extends string>(parameter: string, text: string, names: readonly Name[]): Name {
  const name = names.find((known) => known === text.trim().toLowerCase());
  if (name === undefined) throw problems.badRequest(`${parameter} must be ${names.join(', ')}, or absent`);
  return name;
}

/** @throws Problem 400 for another form */
function requireForm(parameter: string, text: string, form: RegExp, said: string): string {
  if (!form.test(text)) throw problems.badRequest(`${parameter} must be ${said}`);
  return text;
}

const QUALITY_NAMES = ['best', 'worst', 'audio', 'mp3'] as const;
const HEIGHT = /^([1-9]\d{1,4})p$/;

function parseQuality(text: string): Quality {
  const word = text.trim().toLowerCase();
  const name = QUALITY_NAMES.find((known) => known === word);
  const maxHeight = Number(HEIGHT.exec(word)?.[1]);
  if (name) return name;
  if (maxHeight > 0) return { maxHeight };
  throw problems.badRequest(`quality must be ${QUALITY_NAMES.join(', ')}, or a height such as 1080p`);
}

export const QUALITY: QueryParameter = {
  description: 'best (default), worst, a maximum height such as 1080p, audio, or mp3',
  select: (text) => ({ quality: parseQuality(text) }),
  write: ({ quality }) => (typeof quality === 'object' ? `${quality.maxHeight}p` : quality),
};

export const CODEC: QueryParameter = {
  description: 'any selects the best of all codecs instead of the best that plays everywhere',
  select: (text) => ({ codec: requireName('codec', text, ['any']) }),
  write: ({ codec }) => codec,
};

/** An unknown format has no effect: existing clients send such values. */
export const MEDIA_FORMAT: QueryParameter = {
  description: `${conversionNames.join(', ')} converts the audio`,
  examples: conversionNames,
  select: (text) => ({ format: findConversionName(text) }),
  write: ({ format }) => format,
};

const ARCHIVE = 'zip';

export const GET_FORMAT: QueryParameter = {
  description: `${conversionNames.join(', ')} converts the audio of the selection; zip redirects to an archive of all entries of a list`,
  select(text, { start, end, chapter, subtitles }) {
    const name = requireName('format', text, [...conversionNames, ARCHIVE]);
    if (name !== ARCHIVE) return { format: name };
    if ((start ?? end ?? chapter ?? subtitles) !== undefined)
      throw problems.badRequest('start, end, chapter and subtitles apply to a file, not an archive');
    return { isArchive: true };
  },
  write: ({ format, isArchive }) => (isArchive ? ARCHIVE : format),
};

export const ARCHIVE_FORMAT: QueryParameter = {
  description: 'zip, or absent',
  select: (text) => requireName('format', text, [ARCHIVE]) && {},
  write: () => ARCHIVE,
};

export const FEED_FORMAT: QueryParameter = {
  description:
    'rss (default): a podcast. m3u8: a playlist for players. metalink: names, sizes and addresses of the files, for download managers (RFC 5854). chapters: those of one item, as JSON. transcript: redirects to the subtitles of one item, as WebVTT',
  select: (text) => ({ feedFormat: requireName('format', text, FEED_FORMATS) }),
  write: ({ feedFormat }) => feedFormat,
};

export const SUBTITLE_FORMAT: QueryParameter = {
  description: `${SUBTITLE_FORMATS.join(', ')} (a transcript); vtt by default`,
  select: (text) => ({ textFormat: requireName('format', text, SUBTITLE_FORMATS) }),
};

const BITRATES = MP3_BITRATES_KBPS.map(String);

const BITRATE: QueryParameter = {
  description: `kbit/s of MP3: ${BITRATES.join(', ')}; ${MP3_BITRATE_KBPS} by default`,
  values: BITRATES,
  isUnique: true,
  select(text) {
    if (!BITRATES.includes(text)) throw problems.badRequest(`bitrate must be ${BITRATES.join(', ')}, or absent`);
    return { bitrateKbps: Number(text) as Mp3BitrateKbps };
  },
  write: ({ bitrateKbps }) => bitrateKbps,
};

/** @throws Problem 400 for a bit rate of anything else */
export function requireMp3({ format, quality }: Selection): void {
  if ((format ?? quality) !== 'mp3') throw problems.badRequest('bitrate applies to MP3 only');
}

export const MAX_BYTES: QueryParameter = {
  description:
    'The best that is sent with at most so many bytes, such as 10000000: exact sizes as they are, estimates with 5 % more, those of parts with 25 %. MP3 has the highest bit rate up to bitrate that fits. What has no known size does not fit; 404 names the smallest',
  isUnique: true,
  select(text, { audio }) {
    if (audio?.toLowerCase() === 'all') throw problems.badRequest('maxBytes cannot be combined with audio=all');
    return {
      maxBytes: Number(requireForm('maxBytes', text, /^[1-9]\d{0,14}$/, 'a number of bytes, such as 10000000')),
    };
  },
  write: ({ maxBytes }) => maxBytes,
};

export const TAGS: QueryParameter = {
  description:
    'true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag',
  values: ['true', 'false'],
  isUnique: true,
  select(text) {
    const word = text.toLowerCase();
    if (word !== 'true' && word !== 'false') throw problems.badRequest('tags must be true, or absent');
    return word === 'true' ? { hasTags: true } : {};
  },
  write: ({ hasTags }) => hasTags || undefined,
};

/** A tag of BCP 47, or a language code of yt-dlp: `pt-BR`, `en-orig`. */
const LANGUAGE = /^[\w-]{1,35}$/;

export const SUBTITLES: QueryParameter = {
  description: 'Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it',
  isUnique: true,
  select: (text) => ({ subtitles: requireForm('subtitles', text, LANGUAGE, 'a language, such as en') }),
  write: ({ subtitles }) => subtitles,
};

export const AUDIO: QueryParameter = {
  description:
    'Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default',
  isUnique: true,
  select: (text) => ({
    audio: requireForm('audio', text, LANGUAGE, 'a language, such as en, or original, or all'),
  }),
  write: ({ audio }) => audio,
};

export const PRESENTED_AUDIO = withDescription(
  AUDIO,
  'As for Media; of a pair by default every language in the codec of its own audio, the original first',
);

/** Categories, separated by commas. */
function parseCategories(name: string, text: string): readonly SkipCategory[] {
  const names = text.split(',').map((each) => each.trim().toLowerCase());
  const categories = SEGMENT_CATEGORIES.filter((category) => names.includes(category));
  if (categories.length < new Set(names).size)
    throw problems.badRequest(`${name} must be of ${SEGMENT_CATEGORIES.join(', ')}, separated by commas`);
  return categories;
}

export const SKIP: QueryParameter = {
  description: `Segments of a video of YouTube to leave out, by the reports of viewers: ${SEGMENT_CATEGORIES.join(', ')}, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL`,
  isUnique: true,
  select: (text) => ({ skip: parseCategories('skip', text) }),
  write: ({ skip }) => skip?.join(),
};

const MARK: QueryParameter = {
  description: 'Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true',
  isUnique: true,
  // The part can be asked for by start and end.
  excludes: ['chapter'],
  select: (text) => ({ mark: parseCategories('mark', text), hasTags: true }),
  write: ({ mark }) => mark?.join(),
};

/** The most segments of a window: a day of segments of a few seconds. */
export const MAX_WINDOW_SEGMENTS = 20_000;

/** Seconds: up to 11 days, to the microsecond. */
const SECONDS = /^\d{1,6}(?:\.\d{1,6})?$/;
const BEFORE_NOW = /^-\d{1,6}(?:\.\d{1,6})?$/;
/** ISO 8601 with a time zone; a `+` that was not encoded is a space. */
const TIME_OF_DAY = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+ -]\d\d:\d\d)$/i;

const parseSeconds = (name: string, text: string): number =>
  Number(requireForm(name, text, SECONDS, 'a number of seconds, such as 12.5'));

/** Undefined for what may be seconds of a clip. @throws Problem 400 for a time that does not exist */
function parseWindowTime(name: string, text = ''): WindowTime | undefined {
  if (BEFORE_NOW.test(text)) return { secondsAgo: -Number(text) };
  if (!TIME_OF_DAY.test(text)) return undefined;
  const epochMs = Date.parse(text.replace(' ', '+'));
  if (Number.isNaN(epochMs))
    throw problems.badRequest(`${name} must be an ISO 8601 time with a zone, such as 2026-11-27T12:00:00Z`);
  return { epochMs };
}

/** `start` and `end` together: a clip, or a window of a live stream. */
function parseTimes(_: string, { start, end }: Texts): Pick<Selection, 'clip' | 'window'> {
  const times = { start: parseWindowTime('start', start), end: parseWindowTime('end', end) };
  if (!times.start && !times.end) return { clip: parseClip(start, end) };
  const isMixed = (start !== undefined && !times.start) || (end !== undefined && !times.end);
  if (isMixed) throw problems.badRequest('start and end of a window are negative seconds or times of day');
  requireOrder(times);
  return { window: { kind: 'times', ...times } };
}

function parseClip(start: string | undefined, end: string | undefined): Selection['clip'] {
  const startSeconds = start === undefined ? 0 : parseSeconds('start', start);
  const endSeconds = end === undefined ? Number.POSITIVE_INFINITY : parseSeconds('end', end);
  if (endSeconds <= startSeconds) throw problems.badRequest('end must be later than start');
  return { startSeconds, endSeconds };
}

function requireOrder({ start, end = { secondsAgo: 0 } }: WindowTimes): void {
  const order = (time: WindowTime | undefined, like: WindowTime) => {
    if (!time || 'epochMs' in time !== 'epochMs' in like) return undefined;
    return 'epochMs' in time ? time.epochMs : -time.secondsAgo;
  };
  const [from, until] = [order(start, end), order(end, end)];
  if (from !== undefined && until !== undefined && from >= until)
    throw problems.badRequest('end must be later than start');
}

const writeTime = (time: WindowTime | undefined): string | undefined =>
  time && ('epochMs' in time ? new Date(time.epochMs).toISOString() : `-${time.secondsAgo}`);

const windowTimes = ({ window }: Selection): WindowTimes => (window?.kind === 'times' ? window : {});
const isOpenEnded = ({ clip }: Selection): boolean => clip?.endSeconds === Number.POSITIVE_INFINITY;

export const START: QueryParameter = {
  description:
    'Seconds, such as 12.5: only the part from there on, as a file of its own, of a conversion or of MP4 files that can be sought in. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z',
  isUnique: true,
  select: parseTimes,
  write(selection) {
    const seconds = selection.clip?.startSeconds ?? 0;
    return writeTime(windowTimes(selection).start) ?? (seconds > 0 || isOpenEnded(selection) ? seconds : undefined);
  },
};

export const END: QueryParameter = {
  description: 'Seconds: only the part up to there. May be later than the end. Of a live stream: as start',
  isUnique: true,
  select: parseTimes,
  write: (selection) =>
    writeTime(windowTimes(selection).end) ?? (isOpenEnded(selection) ? undefined : selection.clip?.endSeconds),
};

/** The number of a chapter: no item has as many. */
const CHAPTER_NUMBER = /^[1-9]\d{0,3}$/;

export const CHAPTER: QueryParameter = {
  description:
    'Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title',
  isUnique: true,
  excludes: ['start', 'end', 'segments'],
  select: (text) => ({
    chapter: Number(requireForm('chapter', text, CHAPTER_NUMBER, 'the number of a chapter, from 1')),
  }),
  write: ({ chapter }) => chapter,
};

const NUMBERS = /^(\d{1,15})-(\d{1,15})$/;

function parseSegments(text: string): WindowSelection {
  const [, first, last] = NUMBERS.exec(text) ?? [];
  if (first === undefined || last === undefined)
    throw problems.badRequest('segments must be media sequence numbers, such as 100-149');
  const window = { first: Number(first), last: Number(last) };
  if (window.last < window.first) throw problems.badRequest('segments must end with the later one');
  if (window.last - window.first >= MAX_WINDOW_SEGMENTS)
    throw problems.badRequest(`A window has at most ${MAX_WINDOW_SEGMENTS} segments`);
  return { kind: 'segments', ...window };
}

/** After `start` and `end`, which are a clip of the segments. */
export const SEGMENTS: QueryParameter = {
  description:
    'Media sequence numbers of live HLS or DASH, such as 100-149: that part of what its source holds, as a file of its own',
  isUnique: true,
  select(text, { start, end }) {
    if (parseWindowTime('start', start) ?? parseWindowTime('end', end))
      throw problems.badRequest('segments and a window by time exclude each other');
    return { window: parseSegments(text) };
  },
  write: ({ window }) => (window?.kind === 'segments' ? `${window.first}-${window.last}` : undefined),
};

export const KEYFRAME_START: QueryParameter = {
  description:
    'Seconds, such as 12.5: from the keyframe at or before it on, where the rendition consists of MP4 files that can be sought in. X-Argon-Start is the time of that keyframe',
  isUnique: true,
  excludes: ['skip', 'mark'],
  select: (text) => ({ fromKeyframeSeconds: parseSeconds('start', text) || undefined }),
};

export const NAME: QueryParameter = {
  description:
    'Name of the file in Content-Disposition, without extension. Characters that file systems reserve are removed; what is in brackets at the end of a long name stays',
  select: (text) => ({ fileName: text }),
};

export const SPLIT: QueryParameter = {
  description:
    'chapters: an archive of one item, with a file for each of its chapters, numbered and with tags unless tags=false. 415 for an item without chapters',
  values: ['chapters'],
  excludes: ['mark'],
  select(text, { format, tags }) {
    requireName('split', text, ['chapters']);
    if (format?.toLowerCase() !== ARCHIVE) throw problems.badRequest('split needs format=zip');
    // Files of chapters are told apart by their tags.
    return { isSplit: true, ...(!tags && { hasTags: true }) };
  },
};

const NUMBER = '[1-9]\\d{0,5}';
const RANGES = new RegExp(`^${NUMBER}(?:-${NUMBER})?(?:,${NUMBER}(?:-${NUMBER})?)*$`);

function parseEntries(text: string): EntrySelection {
  requireForm('entries', text, RANGES, 'numbers of entries, such as 1-3,7');
  return text.split(',').map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    if (last < first) throw problems.badRequest('Ranges of entries must end with the later one');
    return [first, last];
  });
}

export const ENTRIES: QueryParameter = {
  description: 'Numbers of entries of a list, from 1, such as 1-3,7; all by default',
  select: (text) => ({ entries: parseEntries(text) }),
  write: ({ entries }) => entries?.map((range) => range.join('-')).join(','),
};

export const OFFSET: QueryParameter = {
  description:
    'Entries of a list to leave out at its beginning: 200 gives those from number 201 on. 404 beyond the end of the list, and for a single item',
  select: (text) => ({ offset: Number(requireForm('offset', text, /^\d{1,6}$/, 'a number of entries, such as 200')) }),
  write: ({ offset }) => offset || undefined,
};

export const FROM: QueryParameter = {
  description: 'Number of the first entry, from 1: continues an interrupted archive that has no length',
  select: (text) => ({
    from: Number(requireForm('from', text, new RegExp(`^${NUMBER}$`), 'the number of an entry, such as 12')),
  }),
  write: ({ from }) => (from === 1 ? undefined : from),
};

export const JOB: QueryParameter = {
  description:
    'An id of up to 64 characters that the client chooses, such as a UUID: ArchiveProgress reports on a ZIP by it',
  select: (text) => ({ jobId: parseJobId(text) }),
  write: ({ jobId }) => jobId,
};

export const ENTITY: QueryParameter = {
  description: 'The version of the media that the playlist refers to, as in its URLs',
  select: (text) => ({ entity: text }),
  write: ({ entity }) => entity,
};

export const LINK: QueryParameter = { description: 'The media link to resolve' };

/** How one rendition is sent. */
export const OF_A_FILE = {
  bitrate: BITRATE,
  tags: TAGS,
  subtitles: SUBTITLES,
  audio: AUDIO,
  start: START,
  end: END,
  chapter: CHAPTER,
};

/** What changes the sound or its tags, of a rendition or of each entry of a list. */
export const SKIP_AND_MARK = { skip: SKIP, mark: MARK };

/** How each entry of a list is sent. */
export const ofEntries = (quality: string) => ({
  quality: withDescription(QUALITY, quality),
  codec: withDescription(CODEC, 'As for Get'),
  maxBytes: withDescription(MAX_BYTES, 'As for Get, of each entry'),
  bitrate: BITRATE,
  tags: TAGS,
  audio: withDescription(AUDIO, 'As for Get, of each entry'),
  ...SKIP_AND_MARK,
});

/** A parameter of the archive to which an operation redirects. */
export const ofArchive = (parameter: QueryParameter) =>
  withDescription(parameter, `Of an archive: ${parameter.description}`);
