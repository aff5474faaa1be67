import { conversionNames, MP3_BITRATE_KBPS, MP3_BITRATES_KBPS } from '../conversions/index.ts';
import { SEGMENT_CATEGORIES } from '../media/skipping/index.ts';
import { SUBTITLE_FORMATS } from '../media/subtitles/index.ts';
import type { SchemaName } from './schemas.ts';

/** An operation of the API. The table of operations drives the routes of every host, CORS, OpenAPI and the edge function. */
export interface Operation {
  readonly operationId: string;
  /** `function`: a Lambda behind the HTTP API. `stream-service`: the Fastify service. */
  readonly servedBy: 'function' | 'stream-service';
  /** Canonical spelling, with parameters in braces. Requests match in any case. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Responses by status. */
  readonly responses: Readonly<Record<number, ResponseShape>>;
  /** The JSON that a request has as its body. Absent: none is read. */
  readonly body?: string;
  /** Methods besides OPTIONS. HEAD of the Fetch operations would resolve a link for nothing: no client asks so. */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[];
}

/** A parameter as OpenAPI describes it; every value is a string. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  /** Every value there is: others are refused. Absent: the description says which there are. */
  readonly values?: readonly string[];
  /** Values with an effect, where others have none. */
  readonly examples?: readonly string[];
}

/** The content of a response: a JSON body by the name of its schema, or media types of bytes. */
export interface ResponseShape {
  readonly description: string;
  readonly schema?: SchemaName;
  readonly media?: readonly string[];
}

const failure = (description: string): ResponseShape => ({ description, schema: 'ProblemDetails' });

const inQuery = (name: string, description: string, values?: readonly string[]): Parameter => ({
  name,
  in: 'query',
  description,
  ...(values && { values }),
});
const inPath = (name: string, description: string): Parameter => ({ name, in: 'path', required: true, description });

const KEY = inPath('key', 'A key taken from a resolve response');
const ITEM_KEY = inPath('key', 'The key of any rendition of the item');
const LINK = inQuery('url', 'The media link to resolve');

const PREFER: Parameter = {
  name: 'Prefer',
  in: 'header',
  description:
    'wait=3 answers after about 3 seconds with the entries of a list that are resolved by then; the others have neither video nor audio. The same request later continues with them',
};

const NOT_HANDLED = 'or a shape of link that is not handled; detail says which';

/** Failures of the operations that resolve a link. */
const RESOLVE_FAILURES = {
  400: failure('A parameter is missing or malformed'),
  404: failure('The link did not resolve to anything'),
  415: failure(`Protected, refused by the source, ${NOT_HANDLED}`),
  502: failure('Extraction failed for another reason'),
  503: failure('The instance is updating its tools and is briefly unavailable'),
};

/** The same for operations that apply to a single item. */
const ITEM_FAILURES = {
  ...RESOLVE_FAILURES,
  415: failure(`Protected, refused by the source, a playlist, ${NOT_HANDLED}`),
};
const NO_LINK = failure('The url parameter is missing or malformed');

const GONE = failure('No such key, or its source is gone');
const UNREADABLE_PICTURE = failure('The source cannot be read, or is not a picture');

/** A file, and parts of it. */
const ranged = (what: string, media: readonly string[]) => ({
  200: { description: `The ${what}, whole`, media },
  206: { description: `The requested part of the ${what}`, media },
  304: { description: 'If-None-Match has the ETag' },
  416: failure('The range cannot be satisfied'),
});

const BITRATE = inQuery(
  'bitrate',
  `kbit/s of MP3: ${MP3_BITRATES_KBPS.join(', ')}; ${MP3_BITRATE_KBPS} by default`,
  MP3_BITRATES_KBPS.map(String),
);

const TAGS = inQuery(
  'tags',
  'true adds title, artist, album, track number, date, link, cover and chapters to MP3, M4A, Opus, pairs and clips. The file has its own length and ETag',
  ['true', 'false'],
);

const EMBEDDED = inQuery(
  'subtitles',
  'Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it',
);

const AUDIO = inQuery(
  'audio',
  'Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default',
);

const PRESENTED = 'As for Media; of a pair by default every language in the codec of its own audio, the original first';

const CLIP = [
  inQuery(
    'start',
    'Seconds, such as 12.5: only the part from there on, of a conversion or of MP4 files that can be sought in. It is a file of its own, with its own length and ETag; no video is re-encoded. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z',
  ),
  inQuery('end', 'Seconds: only the part up to there. May be later than the end. Of a live stream: as start'),
  inQuery(
    'chapter',
    'Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title',
  ),
];

const LIVE_SEGMENTS = inQuery(
  'segments',
  'Media sequence numbers of a live HLS stream, such as 100-149: that part of what its source holds, as a file of its own',
);

/** What changes the sound or its tags, of a rendition or of each entry of a list. */
const SKIP_AND_TAG = [
  inQuery(
    'skip',
    `Segments of a video of YouTube to leave out, by the reports of viewers: ${SEGMENT_CATEGORIES.join(', ')}, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL`,
  ),
  inQuery(
    'mark',
    'Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true',
  ),
];

/** How one rendition is sent. */
const OF_A_FILE = [BITRATE, TAGS, EMBEDDED, AUDIO, ...CLIP];

/** How each entry of a list is sent. */
const ofEntries = (quality: string) => [
  inQuery('quality', quality),
  inQuery('codec', 'As for Get'),
  BITRATE,
  TAGS,
  inQuery('audio', 'As for Get, of each entry'),
  ...SKIP_AND_TAG,
];

const NAME = inQuery(
  'name',
  'Name of the file in Content-Disposition, without extension. Characters that file systems reserve are removed',
);

const JOB = inQuery(
  'jobId',
  'An id of up to 64 characters that the client chooses, such as a UUID: ArchiveProgress reports on a ZIP by it',
);

const HLS_TYPES = ['application/vnd.apple.mpegurl', 'video/mp4', 'application/json', 'text/vtt', 'image/*'];

const ENTRIES = inQuery('entries', 'Numbers of entries of a list, from 1, such as 1-3,7; all by default');

const FIRST_ENTRY = inQuery(
  'from',
  'Number of the first entry, from 1: continues an interrupted archive that has no length',
);

const FUNCTION = { servedBy: 'function', methods: ['GET', 'HEAD'] } as const;
const RESOLVE = { servedBy: 'function', methods: ['GET'] } as const;
const STREAM = { servedBy: 'stream-service', methods: ['GET', 'HEAD'] } as const;

const table = [
  {
    operationId: 'GetAppInfo',
    ...FUNCTION,
    path: '/api/App',
    summary: 'Reports version and health, including why the instance is in maintenance',
    parameters: [],
    responses: { 200: { description: 'The state of the instance', schema: 'AppInfo' } },
  },
  {
    operationId: 'GetRequestCount',
    ...FUNCTION,
    path: '/api/App/requests',
    summary: 'Reports how many resolve requests this instance has served',
    parameters: [],
    responses: {
      200: { description: 'A badge for shields.io; the number in X-Request-Count', schema: 'RequestCount' },
    },
  },
  {
    operationId: 'GetResource',
    ...RESOLVE,
    path: '/api/Fetch/GetResource',
    summary: 'Resolves a media URL into metadata and available renditions',
    parameters: [LINK, PREFER],
    responses: {
      200: { description: 'The metadata of the link, and every rendition', schema: 'ResourceInformation' },
      ...RESOLVE_FAILURES,
      400: NO_LINK,
    },
  },
  {
    operationId: 'GetDetails',
    ...RESOLVE,
    path: '/api/Fetch/GetDetails',
    summary: 'Resolves a media URL into description, date, chapters, thumbnails and subtitles',
    parameters: [LINK],
    responses: {
      200: { description: 'The details of the item', schema: 'MediaDetails' },
      ...ITEM_FAILURES,
      400: NO_LINK,
    },
  },
  {
    operationId: 'GetPlayback',
    ...RESOLVE,
    path: '/api/Fetch/GetPlayback',
    summary: 'Resolves a media URL into files that a player can seek in, with their codecs',
    parameters: [LINK],
    responses: {
      200: { description: 'The files of the item', schema: 'Playback' },
      ...ITEM_FAILURES,
      400: NO_LINK,
    },
  },
  {
    operationId: 'Get',
    ...FUNCTION,
    path: '/api/Get',
    summary: 'Resolves a media URL and redirects to the stream of one rendition',
    parameters: [
      LINK,
      inQuery('quality', 'best (default), worst, a maximum height such as 1080p, audio, or mp3'),
      inQuery('codec', 'any selects the best of all codecs instead of the best that plays everywhere'),
      inQuery(
        'format',
        `${conversionNames.join(', ')} converts the audio of the selection; zip redirects to an archive of all entries of a list`,
      ),
      ...OF_A_FILE,
      ...SKIP_AND_TAG,
      inQuery('from', `Of an archive: ${FIRST_ENTRY.description}`),
      inQuery('entries', `Of an archive: ${ENTRIES.description}`),
      inQuery(
        'split',
        'chapters: an archive of one item, with a file for each of its chapters, numbered and with tags unless tags=false. 415 for an item without chapters',
        ['chapters'],
      ),
    ],
    responses: {
      302: { description: 'Location is the stream' },
      ...ITEM_FAILURES,
      404: failure('The link did not resolve to anything, or has no such rendition'),
    },
  },
  {
    operationId: 'Feed',
    ...FUNCTION,
    path: '/api/Feed',
    summary:
      'Resolves a list into a podcast, a playlist for players, or a list for download managers, whose links resolve again when they are used',
    parameters: [
      LINK,
      inQuery(
        'format',
        'rss (default): a podcast. m3u8: a playlist for players. metalink: names, sizes and addresses of the files, for download managers (RFC 5854). chapters: those of one item, as JSON. transcript: redirects to the subtitles of one item, as WebVTT',
      ),
      ...ofEntries('As for Get, of each entry; mp3 by default with rss, else best'),
      ENTRIES,
    ],
    responses: {
      200: {
        description: 'The feed',
        media: ['application/rss+xml', 'audio/x-mpegurl', 'application/metalink4+xml', 'application/json+chapters'],
      },
      302: { description: 'Location is the transcript' },
      304: { description: 'If-None-Match has the ETag of the feed' },
      ...RESOLVE_FAILURES,
    },
  },
  {
    operationId: 'Mcp',
    servedBy: 'function',
    path: '/mcp',
    summary: 'The Model Context Protocol (streamable HTTP, stateless): tools for assistants',
    parameters: [],
    body: 'One JSON-RPC 2.0 message of the protocol',
    responses: {
      200: {
        description: 'The answer to the message; what a tool fails with is part of it',
        media: ['application/json', 'text/event-stream'],
      },
      202: { description: 'A notification was accepted' },
      400: { description: 'Malformed JSON, or no message of the protocol', media: ['application/json'] },
      403: failure('The page that sends the request has an origin that is not allowed'),
      406: { description: 'Accept lacks application/json or text/event-stream', media: ['application/json'] },
      413: { description: 'The message is too large', media: ['application/json'] },
      415: { description: 'The message is not application/json', media: ['application/json'] },
    },
    methods: ['POST'],
  },
  {
    operationId: 'Media',
    ...STREAM,
    path: '/api/Stream/Media/{key}',
    summary: 'Streams one rendition, whole or by range',
    parameters: [
      KEY,
      {
        name: 'format',
        in: 'query',
        description: `${conversionNames.join(', ')} converts the audio`,
        examples: conversionNames,
      },
      ...OF_A_FILE,
      LIVE_SEGMENTS,
      ...SKIP_AND_TAG,
      NAME,
    ],
    responses: {
      ...ranged('media bytes', ['video/*', 'audio/*']),
      302: { description: 'Location is the part of the live stream by its segments' },
      400: failure('A parameter is invalid, or the rendition cannot be clipped; detail says which'),
      404: GONE,
      415: failure('The rendition cannot be sent in the requested format; detail says why'),
      502: failure('The source cannot be read, or the segments to leave out'),
    },
  },
  {
    operationId: 'HlsMaster',
    ...STREAM,
    path: '/api/Stream/Hls/{key}/master.m3u8',
    summary:
      'The HLS master playlist (RFC 8216) of a rendition in MP4, for Apple players, AirPlay, Chromecast and hls.js',
    parameters: [KEY, inQuery('audio', PRESENTED)],
    responses: {
      ...ranged('playlist', ['application/vnd.apple.mpegurl']),
      400: failure('audio is malformed, or there is none in this language; detail says which'),
      404: GONE,
      415: failure('The rendition cannot be sent by byte ranges of MP4; detail says why'),
    },
  },
  {
    operationId: 'HlsFile',
    ...STREAM,
    path: '/api/Stream/Hls/{key}/{file}',
    summary: 'A file that the HLS master playlist of a rendition refers to',
    parameters: [
      KEY,
      inPath(
        'file',
        'video.m3u8, audio.m3u8, audio-2.m3u8 and so on, both.m3u8, media.mp4, media-2.mp4 and so on, chapters.json; of a live stream held.m3u8 and its segments too',
      ),
      inQuery('audio', 'As in the URLs of the master playlist'),
      inQuery('entity', 'The version of the media that the playlist refers to, as in its URLs'),
    ],
    responses: {
      ...ranged('file', HLS_TYPES),
      400: failure('audio is malformed, or there is none in this language; detail says which'),
      404: failure('No such key or file, its source is gone, or the media is of another version'),
      415: failure('The rendition cannot be sent by byte ranges of MP4; detail says why'),
    },
  },
  {
    operationId: 'Subtitle',
    ...STREAM,
    path: '/api/Stream/Subtitle/{key}',
    summary: 'A subtitle file, converted to the requested format',
    parameters: [KEY, inQuery('format', `${SUBTITLE_FORMATS.join(', ')} (a transcript); vtt by default`)],
    responses: {
      ...ranged('file', ['text/vtt', 'application/x-subrip', 'text/plain']),
      400: failure('The format is unknown'),
      404: GONE,
      502: failure('The source cannot be read, or is not a subtitle file'),
    },
  },
  {
    operationId: 'Cover',
    ...STREAM,
    path: '/api/Stream/Cover/{key}',
    summary: 'The cover of the item that a rendition belongs to, as the source has it',
    parameters: [KEY],
    responses: {
      ...ranged('picture', ['image/*']),
      404: failure('No such key, the item has no cover, or its source is gone'),
      502: UNREADABLE_PICTURE,
    },
  },
  {
    operationId: 'Segments',
    ...STREAM,
    path: '/api/Stream/Segments/{key}',
    summary: 'The segments that viewers have reported of an item, which skip leaves out; none without SPONSORBLOCK_URL',
    parameters: [ITEM_KEY],
    responses: {
      200: { description: 'The segments, as the service lists them', schema: 'ItemSegments' },
      404: failure('No such key'),
      502: failure('The segments cannot be read'),
    },
  },
  {
    operationId: 'ArchiveList',
    ...FUNCTION,
    path: '/api/Stream/Archive',
    summary: 'Resolves a list and redirects to the archive of its sound, as Get does with format=zip and quality=audio',
    parameters: [LINK, JOB],
    responses: {
      302: { description: 'Location is the archive' },
      400: failure('A parameter is missing or malformed, or the link is a single item; detail says which'),
      404: failure('The list cannot be read; type and detail say why'),
      503: RESOLVE_FAILURES[503],
    },
  },
  {
    operationId: 'ArchiveProgress',
    ...STREAM,
    path: '/api/Stream/Archive/Progress/{jobId}',
    summary: 'Reports how far an archive is, as server-sent events',
    parameters: [inPath(JOB.name, JOB.description)],
    responses: {
      200: {
        description:
          'An unnamed event for each change, whose data is an ArchiveProgress in JSON; the last one is done or failed. A job that nobody begins within 30 seconds has failed',
        media: ['text/event-stream'],
      },
      400: failure('The id is malformed'),
    },
  },
  {
    operationId: 'Archive',
    ...STREAM,
    path: '/api/Stream/Archive/{key}',
    summary: 'Streams the entries of a list as one archive, one after another',
    parameters: [
      inPath('key', 'The key in the location that Get answers for a list with format=zip'),
      ...ofEntries('As for Get, of each entry'),
      inQuery('format', 'zip, or absent'),
      FIRST_ENTRY,
      JOB,
    ],
    responses: {
      200: { description: 'The archive, from the beginning', media: ['application/zip'] },
      206: { description: 'The requested part of an archive of known length', media: ['application/zip'] },
      400: failure('A parameter is malformed, or the list has no entry of that number; detail says which'),
      404: failure('No such key, or no entry of the list can be found'),
      415: failure('No entry can be delivered'),
      416: failure('The range cannot be satisfied'),
      502: failure('None of the entries can be read'),
    },
  },
  {
    operationId: 'Combined',
    ...STREAM,
    path: '/api/Stream/Combined/{key}',
    summary: 'Muxes separate video and audio into MP4 while sending',
    parameters: [
      KEY,
      EMBEDDED,
      AUDIO,
      ...SKIP_AND_TAG,
      inQuery(
        'start',
        'Seconds, such as 12.5: from the keyframe at or before it on, where the rendition consists of MP4 files that can be sought in. X-Argon-Start is the time of that keyframe',
      ),
    ],
    responses: {
      200: {
        description: 'The MP4 stream, from the beginning; codecs that MP4 cannot hold in their own container',
        media: ['video/*', 'audio/*'],
      },
      400: failure('A parameter is invalid, or the rendition cannot be sought in; detail says which'),
      404: GONE,
      415: failure(
        'Subtitles or audio of this language cannot be part of the rendition, or segments of it not left out',
      ),
      502: failure('The source cannot be read, or the segments to leave out'),
    },
  },
] as const satisfies readonly Operation[];

type Entry = (typeof table)[number];
export type OperationId = Entry['operationId'];
/** Operations that Lambda functions serve. */
export type FunctionOperationId = Extract<Entry, { servedBy: 'function' }>['operationId'];
/** Operations that the stream service serves. */
export type StreamOperationId = Extract<Entry, { servedBy: 'stream-service' }>['operationId'];

/** Every operation, in the order of the description. */
export const operations: readonly (Operation & { readonly operationId: OperationId })[] = table;

/** The operation with an id. @throws Error for an unknown id */
export function getOperation(operationId: OperationId): Operation {
  const found = operations.find((operation) => operation.operationId === operationId);
  if (!found) throw new Error(`Unknown operation ${operationId}`);
  return found;
}

/** Bytes of the body of a request that are read. */
export const MAX_BODY_BYTES = 64 * 1024;

const BODY_PATHS = new Set(operations.filter(({ body }) => body !== undefined).map(({ path }) => path.toLowerCase()));

/** Whether the operation at a path reads the body of its requests. @param path in any case */
export const readsBody = (path: string): boolean => BODY_PATHS.has(path.toLowerCase());
