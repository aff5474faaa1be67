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
  'GET /api/Fetch/GetResource': { parameters: ['query offset string', 'header Prefer string'], responses: {} },
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

/**
 * Operations that the contract does not have. Their parameters and responses are written from the tables that read and answer
 * them; schemathesis compares both with what the service does.
 */
export const ADDED_OPERATIONS: readonly string[] = [
  'POST /mcp',
  'GET /api/Stream/Hls/{key}/master.m3u8',
  'GET /api/Stream/Hls/{key}/{file}',
  'GET /api/Stream/Subtitle/{key}',
  'GET /api/Stream/Cover/{key}',
  'GET /api/Stream/SkipSegments/{key}',
  'GET /api/Stream/Archive/{key}',
  'GET /api/Stream/Archive',
  'GET /api/Stream/Archive/Progress/{jobId}',
  'GET /api/Fetch/GetDetails',
  'GET /api/Fetch/GetPlayback',
  'GET /api/Feed',
  'GET /api/Get',
];
