/** The tables of the contract, copied by hand. `?` after a type: nullable. */
interface ObjectTable {
  readonly fields: Readonly<Record<string, string>>;
  readonly required: readonly string[];
}

const quality = (name: string) => ({
  [`${name}QualityDescription`]: 'string?',
  [`${name}QualityKey`]: 'string?',
  [`${name}QualityFileExtension`]: 'string?',
  [`${name}QualityMimeType`]: 'string?',
});

export const OBJECTS: Readonly<Record<string, ObjectTable>> = {
  AppInfo: {
    fields: { version: 'string?', isHealthy: 'boolean', environment: 'string?', maintenance: 'string?' },
    required: ['version', 'isHealthy', 'environment'],
  },
  ResourceInformation: {
    fields: {
      type: 'MediaType',
      title: 'string?',
      author: 'string?',
      coverUrl: 'string?',
      mediaItems: 'MediaInformation[]?',
    },
    required: ['type', 'mediaItems'],
  },
  MediaInformation: {
    fields: {
      requestedUrl: 'string?',
      video: 'StreamReference',
      audio: 'StreamReference',
      coverUrl: 'string?',
      title: 'string?',
      author: 'string?',
    },
    required: ['requestedUrl', 'coverUrl', 'title', 'author'],
  },
  StreamReference: {
    fields: {
      ...quality('best'),
      ...quality('medium'),
      ...quality('worst'),
      urlType: 'UrlType',
      renditions: 'MediaRendition[]?',
    },
    required: [],
  },
  MediaRendition: {
    fields: {
      key: 'string?',
      label: 'string?',
      description: 'string?',
      fileExtension: 'string?',
      mimeType: 'string?',
      urlType: 'UrlType',
      fileSizeBytes: 'int64?',
      height: 'int32?',
      bitrate: 'double?',
      convertTo: 'string?',
    },
    required: ['key', 'label', 'fileExtension', 'mimeType'],
  },
};

/** Objects of operations that the contract does not have, by the facts of its origin. */
export const ADDED_OBJECTS: Readonly<Record<string, ObjectTable>> = {
  Playback: {
    fields: {
      requestedUrl: 'string',
      title: 'string',
      author: 'string',
      coverUrl: 'string?',
      durationSeconds: 'double?',
      video: 'PlaybackTrack[]',
      audio: 'PlaybackTrack[]',
      muxed: 'PlaybackTrack[]',
      subtitles: 'PlaybackSubtitle[]',
    },
    required: [
      ...['requestedUrl', 'title', 'author', 'coverUrl', 'durationSeconds'],
      ...['video', 'audio', 'muxed', 'subtitles'],
    ],
  },
  PlaybackTrack: {
    fields: {
      key: 'string',
      path: 'string',
      label: 'string',
      description: 'string?',
      contentType: 'string',
      mimeType: 'string',
      codec: 'string?',
      width: 'int32?',
      height: 'int32?',
      fps: 'double?',
      bitrate: 'double?',
      fileSizeBytes: 'int64?',
    },
    required: [
      ...['key', 'path', 'label', 'description', 'contentType', 'mimeType'],
      ...['codec', 'width', 'height', 'fps', 'bitrate', 'fileSizeBytes'],
    ],
  },
  PlaybackSubtitle: {
    fields: { key: 'string', path: 'string', language: 'string', name: 'string', automatic: 'boolean' },
    required: ['key', 'path', 'language', 'name', 'automatic'],
  },
};

export const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  MediaType: ['Media', 'PlayList', 'Unknown'],
  UrlType: ['Combined', 'Media'],
};

/** ProblemDetails, the one object that permits further properties. */
export const ERROR_BODY = {
  type: 'string?',
  title: 'string?',
  status: 'int32?',
  detail: 'string?',
  instance: 'string?',
} as const;

interface OperationTable {
  readonly operationId: string;
  readonly parameters: readonly string[];
  /** The JSON body of each status; undefined where the body is media or its shape is not shown. */
  readonly responses: Readonly<Record<string, string | undefined>>;
}

const PROBLEM = 'ProblemDetails';

export const OPERATIONS: Readonly<Record<string, OperationTable>> = {
  'GET /api/App': { operationId: 'GetAppInfo', parameters: [], responses: { 200: 'AppInfo' } },
  'GET /api/App/requests': { operationId: 'GetRequestCount', parameters: [], responses: { 200: undefined } },
  'GET /api/Fetch/GetResource': {
    operationId: 'GetResource',
    parameters: ['query url string'],
    responses: {
      200: 'ResourceInformation',
      400: PROBLEM,
      404: PROBLEM,
      415: PROBLEM,
      502: PROBLEM,
      503: PROBLEM,
    },
  },
  'GET /api/Stream/Media/{key}': {
    operationId: 'Media',
    parameters: ['path key string required', 'query format string'],
    responses: { 200: undefined, 206: undefined, 304: undefined, 404: PROBLEM, 416: PROBLEM },
  },
  'GET /api/Stream/Combined/{key}': {
    operationId: 'Combined',
    parameters: ['path key string required'],
    responses: { 200: undefined, 404: PROBLEM },
  },
};

/** What this service adds to operations of the contract: optional parameters, and the responses that belong to them. */
export const ADDITIONS: Readonly<Record<string, Pick<OperationTable, 'parameters' | 'responses'>>> = {
  'GET /api/Fetch/GetResource': { parameters: ['header Prefer string'], responses: {} },
  'GET /api/Stream/Media/{key}': {
    parameters: [
      'bitrate',
      'tags',
      'subtitles',
      'audio',
      'start',
      'end',
      'chapter',
      'segments',
      'skip',
      'mark',
      'name',
    ].map((name) => `query ${name} string`),
    responses: { 302: undefined, 400: PROBLEM, 415: PROBLEM, 502: PROBLEM },
  },
  'GET /api/Stream/Combined/{key}': {
    parameters: ['subtitles', 'audio', 'skip', 'mark', 'start'].map((name) => `query ${name} string`),
    responses: { 400: PROBLEM, 415: PROBLEM, 502: PROBLEM },
  },
};

const RESOLVE_FAILURES = { 400: PROBLEM, 404: PROBLEM, 415: PROBLEM, 502: PROBLEM, 503: PROBLEM };
const STREAM_RESPONSES = { 200: undefined, 206: undefined, 304: undefined, 404: PROBLEM, 415: PROBLEM, 416: PROBLEM };
const HLS_RESPONSES = { ...STREAM_RESPONSES, 400: PROBLEM };

/** Operations that the contract does not have. */
export const ADDED_OPERATIONS: Readonly<Record<string, OperationTable>> = {
  'POST /mcp': {
    operationId: 'Mcp',
    parameters: [],
    responses: {
      200: undefined,
      202: undefined,
      400: undefined,
      403: PROBLEM,
      406: undefined,
      413: undefined,
      415: undefined,
    },
  },
  'GET /api/Stream/Hls/{key}/master.m3u8': {
    operationId: 'HlsMaster',
    parameters: ['path key string required', 'query audio string'],
    responses: HLS_RESPONSES,
  },
  'GET /api/Stream/Hls/{key}/{file}': {
    operationId: 'HlsFile',
    parameters: ['key', 'file']
      .map((name) => `path ${name} string required`)
      .concat('query audio string', 'query entity string'),
    responses: HLS_RESPONSES,
  },
  'GET /api/Stream/Subtitle/{key}': {
    operationId: 'Subtitle',
    parameters: ['path key string required', 'query format string'],
    responses: {
      200: undefined,
      206: undefined,
      304: undefined,
      400: PROBLEM,
      404: PROBLEM,
      416: PROBLEM,
      502: PROBLEM,
    },
  },
  'GET /api/Stream/Cover/{key}': {
    operationId: 'Cover',
    parameters: ['path key string required'],
    responses: { 200: undefined, 206: undefined, 304: undefined, 404: PROBLEM, 416: PROBLEM, 502: PROBLEM },
  },
  'GET /api/Stream/SkipSegments/{key}': {
    operationId: 'SkipSegments',
    parameters: ['path key string required'],
    responses: { 200: 'SkipSegments', 404: PROBLEM, 502: PROBLEM },
  },
  'GET /api/Stream/Archive/{key}': {
    operationId: 'Archive',
    parameters: [
      'path key string required',
      ...['quality', 'codec', 'maxBytes', 'bitrate', 'tags', 'audio', 'skip', 'mark', 'format', 'from', 'jobId'].map(
        (name) => `query ${name} string`,
      ),
    ],
    responses: {
      200: undefined,
      206: undefined,
      400: PROBLEM,
      404: PROBLEM,
      415: PROBLEM,
      416: PROBLEM,
      502: PROBLEM,
    },
  },
  'GET /api/Stream/Archive': {
    operationId: 'ArchiveList',
    parameters: ['query url string', 'query jobId string'],
    responses: { 302: undefined, 400: PROBLEM, 404: PROBLEM, 503: PROBLEM },
  },
  'GET /api/Stream/Archive/Progress/{jobId}': {
    operationId: 'ArchiveProgress',
    parameters: ['path jobId string required'],
    responses: { 200: undefined, 400: PROBLEM },
  },
  'GET /api/Fetch/GetDetails': {
    operationId: 'GetDetails',
    parameters: ['query url string'],
    responses: { 200: 'MediaDetails', ...RESOLVE_FAILURES },
  },
  'GET /api/Fetch/GetPlayback': {
    operationId: 'GetPlayback',
    parameters: ['query url string'],
    responses: { 200: 'Playback', ...RESOLVE_FAILURES },
  },
  'GET /api/Feed': {
    operationId: 'Feed',
    parameters: [
      'url',
      'format',
      'quality',
      'codec',
      'maxBytes',
      'bitrate',
      'tags',
      'audio',
      'skip',
      'mark',
      'entries',
    ].map((name) => `query ${name} string`),
    responses: { 200: undefined, 302: undefined, 304: undefined, ...RESOLVE_FAILURES },
  },
  'GET /api/Get': {
    operationId: 'Get',
    parameters: [
      ...['url', 'quality', 'codec', 'maxBytes', 'format', 'bitrate', 'tags', 'subtitles', 'audio', 'start', 'end'],
      ...['chapter', 'skip', 'mark', 'from', 'entries', 'split'],
    ].map((name) => `query ${name} string`),
    responses: { 302: undefined, ...RESOLVE_FAILURES },
  },
};
