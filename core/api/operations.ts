import {
  ARCHIVE_FORMAT,
  AUDIO,
  CODEC,
  ENTITY,
  ENTRIES,
  FEED_FORMAT,
  FROM,
  GET_FORMAT,
  JOB,
  KEYFRAME_START,
  LINK,
  MAX_BYTES,
  MEDIA_FORMAT,
  NAME,
  OF_A_FILE,
  OFFSET,
  ofArchive,
  ofEntries,
  PRESENTED_AUDIO,
  QUALITY,
  type QueryParameter,
  SEGMENTS,
  SKIP_AND_MARK,
  SPLIT,
  SUBTITLE_FORMAT,
  SUBTITLES,
  type Texts,
  withDescription,
} from './parameters.ts';
import type { SchemaName } from './schemas.ts';
import { FEED_FORMATS, type Selection } from './selection.ts';

/** An operation of the API. The table of operations drives the routes of every host, CORS, OpenAPI and the edge function. */
export interface Operation {
  readonly operationId: string;
  /** `function`: a Lambda behind the HTTP API. `stream-service`: the Fastify service. */
  readonly servedBy: 'function' | 'stream-service';
  /** Canonical spelling, with parameters in braces. Requests match in any case. */
  readonly path: string;
  /** An earlier path of the operation, which answers the same. It is in no description. */
  readonly formerPath?: string;
  readonly summary: string;
  /** As OpenAPI lists them: the path first. */
  readonly parameters: readonly Parameter[];
  /** Parameters of the query that select something, by name, in the order of links. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** What is selected where the query does not say otherwise. */
  readonly defaults?: (query: Texts) => Selection;
  /** Responses by status. */
  readonly responses: Readonly<Record<number, ResponseShape>>;
  /** The JSON that a request has as its body. Absent: none is read. */
  readonly body?: string;
  /** Methods besides OPTIONS. HEAD of the Fetch operations would resolve a link for nothing: no client asks so. */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[];
}

/** An operation in the table. */
interface Row extends Omit<Operation, 'parameters'> {
  /** Descriptions of parameters of the path. @default that of the key of a rendition */
  readonly inPath?: Readonly<Record<string, string>>;
  readonly headers?: readonly Parameter[];
}

/** A parameter as OpenAPI describes it; every value is a string. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  /** Every value there is: others are refused. Absent: the description says which there are. */
  readonly values?: readonly string[] | undefined;
  /** Values with an effect, where others have none. */
  readonly examples?: readonly string[] | undefined;
}

/** The content of a response: a JSON body by the name of its schema, or media types of bytes. */
export interface ResponseShape {
  readonly description: string;
  readonly schema?: SchemaName;
  readonly media?: readonly string[];
}

const failure = (description: string): ResponseShape => ({ description, schema: 'ProblemDetails' });

const KEY = 'A key taken from a resolve response';

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

/** A file, and parts of it. */
const ranged = (what: string, media: readonly string[]) => ({
  200: { description: `The ${what}, whole`, media },
  206: { description: `The requested part of the ${what}`, media },
  304: { description: 'If-None-Match has the ETag' },
  416: failure('The range cannot be satisfied'),
});

const [RSS] = FEED_FORMATS;

/** Failures of what is presented as HLS. */
const HLS_FAILURES = {
  400: failure('audio is malformed, or there is none in this language; detail says which'),
  404: GONE,
  415: failure('The rendition cannot be sent by byte ranges of MP4; detail says why'),
};

const HLS_TYPES = [
  'application/vnd.apple.mpegurl',
  'application/dash+xml',
  'video/mp4',
  'application/json',
  'text/vtt',
  'image/*',
];

/** Episodes of a podcast are MP3, entries of a playlist the best that plays everywhere. */
const feedDefaults = ({ format: text = RSS }: Texts): Selection => {
  const isPodcast = text.toLowerCase() === RSS;
  return { feedFormat: RSS, quality: isPodcast ? 'mp3' : 'best' };
};

const FUNCTION = { servedBy: 'function', methods: ['GET', 'HEAD'] } as const;
const RESOLVE = { servedBy: 'function', methods: ['GET'] } as const;
const STREAM = { servedBy: 'stream-service', methods: ['GET', 'HEAD'] } as const;

const table = [
  {
    operationId: 'GetAppInfo',
    ...FUNCTION,
    path: '/api/App',
    summary: 'Reports version and health, including why the instance is in maintenance',
    responses: { 200: { description: 'The state of the instance', schema: 'AppInfo' } },
  },
  {
    operationId: 'GetRequestCount',
    ...FUNCTION,
    path: '/api/App/requests',
    summary: 'Reports how many resolve requests this instance has served',
    responses: {
      200: { description: 'A badge for shields.io; the number in X-Request-Count', schema: 'RequestCount' },
    },
  },
  {
    operationId: 'GetResource',
    ...RESOLVE,
    path: '/api/Fetch/GetResource',
    summary: 'Resolves a media URL into metadata and available renditions',
    query: { url: LINK, offset: OFFSET },
    headers: [PREFER],
    responses: {
      200: { description: 'The metadata of the link, and every rendition', schema: 'ResourceInformation' },
      ...RESOLVE_FAILURES,
    },
  },
  {
    operationId: 'GetDetails',
    ...RESOLVE,
    path: '/api/Fetch/GetDetails',
    summary:
      'Resolves a media URL into description, date, chapters, thumbnails and subtitles, or a list into what is known of its unavailable entries',
    query: { url: LINK, offset: OFFSET },
    headers: [PREFER],
    responses: {
      200: { description: 'The details of the item or of the list', schema: 'MediaDetails' },
      ...RESOLVE_FAILURES,
    },
  },
  {
    operationId: 'GetPlayback',
    ...RESOLVE,
    path: '/api/Fetch/GetPlayback',
    summary: 'Resolves a media URL into files that a player can seek in, with their codecs',
    query: { url: LINK },
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
    query: {
      url: LINK,
      quality: QUALITY,
      codec: CODEC,
      maxBytes: MAX_BYTES,
      format: GET_FORMAT,
      ...OF_A_FILE,
      ...SKIP_AND_MARK,
      offset: OFFSET,
      from: ofArchive(FROM),
      entries: ofArchive(ENTRIES),
      split: SPLIT,
    },
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
    query: {
      url: LINK,
      format: FEED_FORMAT,
      ...ofEntries('As for Get, of each entry; mp3 by default with rss, else best'),
      offset: OFFSET,
      entries: ENTRIES,
    },
    defaults: feedDefaults,
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
    query: {
      format: MEDIA_FORMAT,
      ...OF_A_FILE,
      segments: SEGMENTS,
      ...SKIP_AND_MARK,
      name: NAME,
    },
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
    query: { audio: PRESENTED_AUDIO },
    responses: {
      ...ranged('playlist', ['application/vnd.apple.mpegurl']),
      ...HLS_FAILURES,
    },
  },
  {
    operationId: 'HlsFile',
    ...STREAM,
    path: '/api/Stream/Hls/{key}/{file}',
    summary: 'A file that the HLS master playlist of a rendition refers to',
    query: { audio: withDescription(AUDIO, 'As in the URLs of the master playlist'), entity: ENTITY },
    inPath: {
      file: 'all.m3u8 and all.mpd (HLS and DASH of every height in the same codecs, from which players choose by bandwidth), video.m3u8, audio.m3u8, audio-2.m3u8 and so on, both.m3u8, each with its .mp4, text-ID.m3u8 with its .vtt, chapters.json; behind the id of another rendition and a dot, those of another height; of a live stream held.m3u8 and its segments too',
    },
    responses: {
      ...ranged('file', HLS_TYPES),
      ...HLS_FAILURES,
      404: failure('No such key or file, its source is gone, or the media is of another version'),
    },
  },
  {
    operationId: 'Subtitle',
    ...STREAM,
    path: '/api/Stream/Subtitle/{key}',
    summary: 'A subtitle file, converted to the requested format',
    query: { format: SUBTITLE_FORMAT },
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
    responses: {
      ...ranged('picture', ['image/*']),
      404: failure('No such key, the item has no cover, or its source is gone'),
      502: failure('The source cannot be read, or is not a picture'),
    },
  },
  {
    operationId: 'SkipSegments',
    ...STREAM,
    path: '/api/Stream/SkipSegments/{key}',
    formerPath: '/api/Stream/Segments/{key}',
    summary: 'The segments that viewers have reported of an item, which skip leaves out; none without SPONSORBLOCK_URL',
    inPath: { key: 'The key of any rendition of the item' },
    responses: {
      200: { description: 'The segments, as the service lists them', schema: 'SkipSegments' },
      404: failure('No such key'),
      502: failure('The segments cannot be read'),
    },
  },
  {
    operationId: 'ArchiveList',
    ...FUNCTION,
    path: '/api/Stream/Archive',
    summary: 'Resolves a list and redirects to the archive of its sound, as Get does with format=zip and quality=audio',
    query: { url: LINK, jobId: JOB, offset: OFFSET },
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
    inPath: { jobId: JOB.description },
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
    query: {
      ...ofEntries('As for Get, of each entry'),
      format: ARCHIVE_FORMAT,
      from: FROM,
      jobId: JOB,
    },
    inPath: { key: 'The key in the location that Get answers for a list with format=zip' },
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
    query: { subtitles: SUBTITLES, audio: AUDIO, ...SKIP_AND_MARK, start: KEYFRAME_START },
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
] as const satisfies readonly Row[];

type Entry = (typeof table)[number];
export type OperationId = Entry['operationId'];
/** Operations that Lambda functions serve. */
export type FunctionOperationId = Extract<Entry, { servedBy: 'function' }>['operationId'];
/** Operations that the stream service serves. */
export type StreamOperationId = Extract<Entry, { servedBy: 'stream-service' }>['operationId'];

/** Every operation, in the order of the description. */
export const operations: readonly (Operation & { readonly operationId: OperationId })[] = table.map(
  ({ inPath = {}, headers = [], ...operation }: Row & { readonly operationId: OperationId }) => ({
    ...operation,
    parameters: [
      ...operation.path.matchAll(/\{(\w+)\}/g).map(([, name = '']) => ({
        name,
        in: 'path' as const,
        required: true as const,
        description: inPath[name] ?? KEY,
      })),
      ...Object.entries(operation.query ?? {}).map(([name, { description, values, examples }]) => ({
        name,
        in: 'query' as const,
        description,
        values,
        examples,
      })),
      ...headers,
    ],
  }),
);

/** The same by their ids. */
export const operationsById = Object.fromEntries(
  operations.map((operation) => [operation.operationId, operation]),
) as Readonly<Record<OperationId, Operation>>;

/** Every path that requests are matched with, with what serves it: those of the operations, and their former ones. */
export const routes: readonly (Pick<Operation, 'path' | 'methods' | 'servedBy'> & {
  readonly operationId: OperationId;
})[] = operations.flatMap(({ operationId, path, formerPath = [], methods, servedBy }) =>
  [path, formerPath].flat().map((each) => ({ operationId, path: each, methods, servedBy })),
);

/** Bytes of the body of a request that are read. */
export const MAX_BODY_BYTES = 64 * 1024;

const BODY_PATHS = new Set(operations.filter(({ body }) => body !== undefined).map(({ path }) => path.toLowerCase()));

/** Whether the operation at a path reads the body of its requests. @param path in any case */
export const readsBody = (path: string): boolean => BODY_PATHS.has(path.toLowerCase());
