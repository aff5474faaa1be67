import { type DashSegment, type DashSegmentList, packDashSegments } from '@reelay/seekable-media/dash';
import { duration, parsePythonJson } from '@reelay/seekable-media/values';

/** yt-dlp's JSON of an item, a format, an entry or a thumbnail. Untrusted: each field may have any type. */
export type Info = Readonly<Record<string, unknown>>;

/** A trimmed string; undefined when it is empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

export const infoList = (value: unknown): readonly Info[] => (Array.isArray(value) ? value.filter(isInfo) : []);

export const isInfo = (value: unknown): value is Info =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An http or https URL in WHATWG form; undefined for anything else. `base` resolves relative URLs. */
export function webUrl(value: unknown, base?: string): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value, base) : null;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** Includes the parts of one show (`multi_video`). */
export const isList = (info: Info): boolean => info._type === 'playlist' || info._type === 'multi_video';

/** Whether an entry of a list was extracted together with it; otherwise it has to be resolved by its own URL. */
export const isResolvedEntry = (entry: Info): boolean =>
  entry._type !== 'url' && entry._type !== 'url_transparent' && !isList(entry);

/** The best formats of an item: more do not fit in a table item. */
const MAX_FORMATS = 300;
/** As `PLAYLIST_LIMIT` at most. */
const MAX_ENTRIES = 1000;
/** Texts, numbers and so on of one answer. An item has a few thousand, and an entry of a list about fifty. */
const MAX_VALUES = 200_000;
/** Characters of a URL: longer ones are not requested. */
const MAX_URL_CHARS = 8_192;
/** Characters of a subtitle file in Base64 (reelay_subtitle.py). */
const MAX_FILE_CHARS = 7_000_000;
/** Characters of a text. */
const MAX_CHARS = { item: 10_000, format: 500, cookies: 16 * 1024, header: 8_192, entry: 16 * 1024 };
/** Levels below an entry that is resolved by its URL. */
const MAX_DEPTH = 8;

const FORMAT_FIELDS = [
  ...['format_id', 'format', 'format_note', 'ext', 'protocol', 'vcodec', 'acodec', 'resolution', 'dynamic_range'],
  ...['language', 'language_preference', 'preference', 'source_preference', 'quality', 'has_drm', 'duration', 'fps'],
  ...['height', 'width', 'tbr', 'vbr', 'abr', 'asr', 'filesize', 'filesize_approx', 'available_at'],
  '__needs_testing',
];
const ITEM_FIELDS = [
  ...['_type', '_has_drm', 'id', 'extractor_key', 'ie_key', 'title', 'fulltitle', 'description', 'uploader'],
  ...['uploader_id', 'channel', 'creator', 'artist', 'album_artist', 'album', 'track_number', 'upload_date'],
  ...['release_date', 'is_live', 'live_status', 'direct', 'playlist_title', 'playlist_uploader', 'playlist_index'],
  'playlist_count',
];

/** What yt-dlp has extracted. */
export interface ExtractedInfo {
  readonly info: Info;
  readonly isIncomplete: boolean;
  /** Replaced cookies, as the worker reports them. Untrusted. */
  readonly cookies?: readonly Info[];
}

/** Not what the worker of yt-dlp answers. */
export class InvalidExtraction extends Error {
  override readonly name = 'InvalidExtraction';
}

/** Reads a successful answer of the worker of yt-dlp. @throws InvalidExtraction */
export function readExtraction(answer: unknown): ExtractedInfo {
  if (!isInfo(answer) || !isInfo(answer.info)) throw new InvalidExtraction('Not an answer of yt-dlp');
  const { info, isIncomplete, cookies } = answer;
  return {
    info: reduceInfo(info),
    isIncomplete: isIncomplete === true,
    ...(cookies !== undefined && { cookies: infoList(cookies) }),
  };
}

/** The same, before it is parsed. */
export const parseExtraction = (json: Uint8Array): ExtractedInfo =>
  readExtraction(parsePythonJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString()));

type Read = (value: unknown) => unknown;

/**
 * What the service reads of yt-dlp's JSON, within bounds: pages determine how many values it has, and how long they are.
 * Fragments of DASH formats are a `DashSegmentList`.
 */
function reduceInfo(info: Info): Info {
  let left = MAX_VALUES;

  const scalar =
    (maxChars: number): Read =>
    (value) => {
      if (left <= 0 || (typeof value === 'object' && value !== null)) return undefined;
      left -= 1;
      return typeof value === 'string' ? value.trim().slice(0, maxChars) : value;
    };
  const bounded =
    (maxChars: number): Read =>
    (value) =>
      typeof value === 'string' && value.length <= maxChars ? scalar(maxChars)(value) : undefined;
  const url = bounded(MAX_URL_CHARS);
  const cookies = bounded(MAX_CHARS.cookies);
  /** @param end from which elements are taken: those at the end of some lists are the best */
  const list =
    (max: number, read: Read, end: 'first' | 'last' = 'first'): Read =>
    (value) =>
      Array.isArray(value) ? (end === 'first' ? value.slice(0, max) : value.slice(-max)).map(read) : undefined;
  const record =
    (max: number, read: Read): Read =>
    (value) =>
      isInfo(value)
        ? Object.fromEntries(
            firstEntries(value, max).map(([name, each]) => [name.slice(0, MAX_CHARS.format), read(each)]),
          )
        : undefined;
  const object =
    (fields: Readonly<Record<string, Read>>): Read =>
    (value) => {
      if (!isInfo(value)) return undefined;
      const kept: Record<string, unknown> = {};
      for (const [name, read] of Object.entries(fields)) {
        const each = value[name] === undefined ? undefined : read(value[name]);
        if (each !== undefined) kept[name] = each;
      }
      return kept;
    };

  const headers = record(32, bounded(MAX_CHARS.header));
  const format = {
    ...fieldsOf(FORMAT_FIELDS, scalar(MAX_CHARS.format)),
    ...fieldsOf(['url', 'manifest_url', 'fragment_base_url'], url),
    ...fieldsOf(['extra_param_to_segment_url', 'extra_param_to_key_url'], url),
    hls_aes: object({ uri: url, ...fieldsOf(['key', 'iv'], bounded(MAX_CHARS.format)) }),
    ...fieldsOf(['request_data', 'impersonate'], isStated),
    cookies,
    http_headers: headers,
    downloader_options: object({ http_chunk_size: scalar(0) }),
  };
  const files = record(
    300,
    list(
      10,
      object({
        ...fieldsOf(['ext', 'protocol', 'name'], scalar(200)),
        url,
        cookies,
        http_headers: headers,
        impersonate: isStated,
      }),
    ),
  );
  const reduceFormat = object(format);
  const reduceFields = object({
    ...format,
    ...fieldsOf(ITEM_FIELDS, scalar(MAX_CHARS.item)),
    ...fieldsOf(['webpage_url', 'thumbnail'], url),
    ...fieldsOf(['creators', 'artists'], list(20, scalar(MAX_CHARS.format))),
    tags: list(200, scalar(MAX_CHARS.format)),
    chapters: list(200, object(fieldsOf(['title', 'start_time', 'end_time'], scalar(MAX_CHARS.format)))),
    reelay_file: bounded(MAX_FILE_CHARS),
    thumbnails: list(200, object({ url, ...fieldsOf(['width', 'height'], scalar(0)) }), 'last'),
    subtitles: files,
    automatic_captions: files,
  });

  const reduceItem = (item: Info): Info => {
    const readFragments = createFragmentReader();
    const withFragments = (reduced: Info, source: Info): Info => {
      const fragments = readFragments(source);
      return fragments ? { ...reduced, fragments } : reduced;
    };
    const reduced = reduceFields(item) as Info;
    // Without formats, it is itself the only one.
    if (!Array.isArray(item.formats)) return withFragments(reduced, item);
    // Best first, while values are left; in the order of the source.
    const best = infoList(item.formats.slice(-MAX_FORMATS).toReversed());
    const formats = best.map((each) => withFragments(reduceFormat(each) as Info, each));
    return { ...reduced, formats: formats.toReversed() };
  };

  /** yt-dlp gets these entries back with all they have, to resolve them. */
  const copy = (value: unknown, depth = 0): unknown => {
    if (typeof value !== 'object' || value === null) return scalar(MAX_CHARS.entry)(value);
    if (depth === MAX_DEPTH || left <= 0) return undefined;
    left -= 1;
    return Array.isArray(value)
      ? value.slice(0, left).map((each) => copy(each, depth + 1))
      : Object.fromEntries(firstEntries(value as Info, left).map(([name, each]) => [name, copy(each, depth + 1)]));
  };

  if (!isList(info)) return reduceItem(info);
  const entries = infoList(info.entries).slice(0, MAX_ENTRIES);
  return {
    ...(reduceFields(info) as Info),
    entries: entries.map((entry) => (isResolvedEntry(entry) ? reduceItem(entry) : copy(entry))),
  };
}

/** Reads a field whose value does not matter. An empty text means any browser. */
const isStated: Read = (value) => (value === null || value === false ? undefined : true);

const fieldsOf = (names: readonly string[], read: Read): Record<string, Read> =>
  Object.fromEntries(names.map((name) => [name, read]));

const firstEntries = (value: Info, max: number): [string, unknown][] =>
  Object.keys(value)
    .slice(0, max)
    .map((name) => [name, value[name]]);

/** DASH fragments of all formats of an item together: a day of one format, or some hours of many. */
const MAX_FRAGMENTS = { video: 150_000, audio: 50_000 };
/** Characters of the URLs of all these fragments, each as written. */
const MAX_FRAGMENT_CHARS = 8 * 1024 * 1024;

/**
 * Returns what reads the fragments of the formats of one item, best first, up to the bounds: a short manifest may expand to
 * millions. Undefined for a format that is not DASH, or beyond the bounds, or with a fragment without an http or https
 * URL.
 */
function createFragmentReader(): (format: Info) => DashSegmentList | undefined {
  const remaining = { ...MAX_FRAGMENTS };
  let remainingChars = MAX_FRAGMENT_CHARS;
  return (format) => {
    const { fragments, protocol, url } = format;
    const isRead = protocol === 'http_dash_segments' && Array.isArray(fragments) && isJoinable(format);
    if (!isRead) return undefined;
    const isAudio = format.vcodec === 'none' || format.resolution === 'audio only';
    const kind = isAudio ? 'audio' : 'video';
    const written = text(format.fragment_base_url) ?? '';
    const base = webUrl(written, webUrl(url));
    if (!base || Math.max(base.length, written.length) > MAX_URL_CHARS) return undefined;
    if (fragments.length === 0 || fragments.length > remaining[kind]) return undefined;
    remaining[kind] -= fragments.length;
    const found = readFragments(fragments, new URL(base).origin, remainingChars);
    remainingChars -= found?.urls.length ?? 0;
    return found;
  };
}

function readFragments(fragments: readonly unknown[], origin: string, maxChars: number): DashSegmentList | undefined {
  let chars = 0;
  const read: DashSegment[] = [];
  for (const fragment of infoList(fragments)) {
    const reference = fragment.url ?? fragment.path;
    if (typeof reference !== 'string' || reference.length > MAX_URL_CHARS) return undefined;
    chars += reference.length + 1;
    // Whether a reference is valid does not depend on the path of its base: a short one saves time.
    if (chars > maxChars || !webUrl(reference, origin)) return undefined;
    read.push({ url: reference, seconds: duration(fragment.duration) ?? 0 });
  }
  return read.length === fragments.length ? packDashSegments(read) : undefined;
}

/**
 * Whether the fragments make one file when they are joined. Complete files, each with a header of its own, do not: the
 * extractor of Bilibili describes FLV and MP4 files in parts so, with the size of each. The stream service joins FLV, whose
 * parts all need a duration: one without would be an initialization segment.
 */
function isJoinable(format: Info): boolean {
  const fragments = infoList(format.fragments);
  if (text(format.ext)?.toLowerCase() === 'flv') return fragments.every((each) => Boolean(duration(each.duration)));
  return !fragments.some(({ filesize }) => Boolean(filesize));
}
