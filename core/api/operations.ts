import { conversionNames } from '../conversions/index.ts';
import type { SchemaName } from './schemas.ts';

/** An operation of the API, as every host routes it and the description lists it. */
export interface Operation {
  readonly operationId: 'GetAppInfo' | 'GetRequestCount' | 'GetResource' | 'Media' | 'Combined';
  /** Canonical spelling; matched without regard to case, parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** What each status carries: a JSON body by its schema's name, or the bytes of a media type. */
  readonly responses: Readonly<Record<number, ResponseShape>>;
  /** What answers besides OPTIONS. HEAD of GetResource would resolve. */
  readonly methods: readonly ('GET' | 'HEAD')[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: true;
  readonly description: string;
}

export interface ResponseShape {
  readonly description: string;
  readonly schema?: SchemaName;
  readonly media?: readonly string[];
}

const failure = (description: string): ResponseShape => ({ description, schema: 'ProblemDetails' });
const KEY: Parameter = { name: 'key', in: 'path', required: true, description: 'A key taken from a resolve response' };

export const operations: readonly Operation[] = [
  {
    operationId: 'GetAppInfo',
    path: '/api/App',
    summary: 'Reports version and health, including why the instance is in maintenance',
    parameters: [],
    responses: { 200: { description: 'The state of the instance', schema: 'AppInfo' } },
    methods: ['GET', 'HEAD'],
  },
  {
    operationId: 'GetRequestCount',
    path: '/api/App/requests',
    summary: 'Reports how many resolve requests this instance has served',
    parameters: [],
    responses: {
      200: { description: 'A badge for shields.io; the number in X-Request-Count', schema: 'RequestCount' },
    },
    methods: ['GET', 'HEAD'],
  },
  {
    operationId: 'GetResource',
    path: '/api/Fetch/GetResource',
    summary: 'Resolves a media URL into metadata and available renditions',
    parameters: [{ name: 'url', in: 'query', description: 'The media link to resolve' }],
    responses: {
      200: { description: 'What the link is, and every rendition', schema: 'ResourceInformation' },
      400: failure('The url parameter is missing or malformed'),
      404: failure('The link did not resolve to anything'),
      415: failure('Protected, refused by the source, or a shape of link that is not handled; detail says which'),
      502: failure('Extraction failed for another reason'),
      503: failure('The instance is updating its tools and is briefly unavailable'),
    },
    methods: ['GET'],
  },
  {
    operationId: 'Media',
    path: '/api/Stream/Media/{key}',
    summary: 'Streams one rendition, whole or by range',
    parameters: [
      KEY,
      { name: 'format', in: 'query', description: `${conversionNames.join(', ')} re-encodes the audio` },
    ],
    responses: {
      200: { description: 'The media bytes, whole', media: ['video/*', 'audio/*'] },
      206: { description: 'The requested part of the media bytes', media: ['video/*', 'audio/*'] },
      404: failure('No such key, or its source is gone'),
      416: failure('The range cannot be satisfied'),
    },
    methods: ['GET', 'HEAD'],
  },
  {
    operationId: 'Combined',
    path: '/api/Stream/Combined/{key}',
    summary: 'Muxes separate video and audio into MP4 while sending',
    parameters: [KEY],
    responses: {
      200: { description: 'The muxed MP4 stream, from the beginning', media: ['video/mp4'] },
      404: failure('No such key, or its source is gone'),
    },
    methods: ['GET', 'HEAD'],
  },
];
