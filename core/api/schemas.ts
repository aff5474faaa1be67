import { SEGMENT_CATEGORIES } from '@reelay/seekable-media/parts/skipping';
import Type, { type Static, type TSchema } from 'typebox';
import { TYPE_REFERENCES } from './problem-types.ts';

/**
 * The objects of the API. Each schema is the one declaration of its object: the OpenAPI description (3.0: `nullable`, no type null)
 * is the schema itself, the types of the service are its `Static`, and those of the client and of the page are rendered from it
 * (`scripts/client-types.ts`). The contract permits more than the service sends: `always` and `neverNull` mark where.
 */
const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** On a schema: what responses do, where the description permits more. Symbols are no part of the description. */
export const IS_ALWAYS_THERE = Symbol('is always there');
export const IS_NEVER_NULL = Symbol('is never null');

/** Allows JSON null as well. */
const nullable = <S extends TSchema>(schema: S) => Type.Unsafe<Static<S> | null>({ ...schema, nullable: true });

/** By the contract it may be null, which it never is. */
const neverNull = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S>>({ ...schema, nullable: true, [IS_NEVER_NULL]: true });

/** By the contract it may be absent, which it never is. */
const always = <S extends TSchema>(schema: S) => Type.Optional({ ...schema, [IS_ALWAYS_THERE]: true }) as TSchema as S;

const string = neverNull(Type.String());
const text = nullable(Type.String());
const optionalText = always(text);
const int32 = Type.Integer({ format: 'int32' });
const nullableInt32 = nullable(int32);
const optionalInt32 = always(nullableInt32);
const optionalInt64 = always(nullable(Type.Integer({ format: 'int64' })));
const double = Type.Number({ format: 'double' });
const nullableDouble = nullable(double);
const optionalDouble = always(nullableDouble);

const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** A reference by name, as the description writes it. */
const reference = <S extends TSchema>(name: string, _schema: S) =>
  Type.Unsafe<Static<S>>({ $ref: `#/components/schemas/${name}` });

const arrayOf = <S extends TSchema>(name: string, schema: S) => Type.Array(reference(name, schema));

const AppInfo = object({
  version: string,
  isHealthy: Type.Boolean(),
  environment: string,
  maintenance: optionalText,
});

const MediaType = oneOf(['Media', 'PlayList', 'Unknown']);
const UrlType = oneOf(['Combined', 'Media']);

const MediaRendition = object({
  key: string,
  label: string,
  description: optionalText,
  fileExtension: string,
  mimeType: string,
  urlType: always(reference('UrlType', UrlType)),
  fileSizeBytes: optionalInt64,
  height: optionalInt32,
  bitrate: optionalDouble,
  convertTo: optionalText,
});

const QUALITY_FIELDS = ['Description', 'Key', 'FileExtension', 'MimeType'] as const;

/** The properties of one of the three renditions that a stream reference names. */
const qualityOf = <Q extends string>(quality: Q) =>
  Object.fromEntries(QUALITY_FIELDS.map((field) => [`${quality}Quality${field}`, optionalText])) as {
    [name in `${Q}Quality${(typeof QUALITY_FIELDS)[number]}`]: typeof optionalText;
  };

const StreamReference = object({
  ...qualityOf('best'),
  ...qualityOf('medium'),
  ...qualityOf('worst'),
  urlType: Type.Optional(reference('UrlType', UrlType)),
  renditions: always(neverNull(arrayOf('MediaRendition', MediaRendition))),
});

const MediaInformation = object({
  requestedUrl: text,
  video: Type.Optional(reference('StreamReference', StreamReference)),
  audio: Type.Optional(reference('StreamReference', StreamReference)),
  coverUrl: text,
  title: text,
  author: text,
});

const ResourceInformation = object({
  type: reference('MediaType', MediaType),
  title: optionalText,
  author: optionalText,
  coverUrl: optionalText,
  mediaItems: neverNull(arrayOf('MediaInformation', MediaInformation)),
});

const Chapter = object({
  title: text,
  startSeconds: double,
  endSeconds: optionalDouble,
});

const Thumbnail = object({
  url: string,
  width: optionalInt32,
  height: optionalInt32,
});

const SubtitleInformation = object({
  key: string,
  language: string,
  name: optionalText,
  isAutomatic: Type.Boolean(),
});

/** An audio rendition, with what a client chooses it by. */
const AudioVersion = object({
  key: string,
  label: string,
  description: optionalText,
  fileExtension: string,
  mimeType: string,
  fileSizeBytes: optionalInt64,
  bitrate: optionalDouble,
  language: optionalText,
  isOriginal: Type.Boolean(),
  isDubbed: Type.Boolean(),
  isDescriptive: Type.Boolean(),
  isDrc: Type.Boolean(),
});

/** An entry of a list that is gone, private or protected, which GetResource leaves out. */
const UnavailableEntry = object({
  number: Type.Integer({ format: 'int32', description: 'Place in the list, from 1' }),
  url: Type.String(),
  title: text,
  reason: Type.String({ description: 'The name in the type of the problem that its link has' }),
});

/** An extension of the contract. */
const MediaDetails = object({
  type: reference('MediaType', MediaType),
  title: text,
  author: text,
  coverUrl: text,
  durationSeconds: optionalDouble,
  isLive: Type.Boolean(),
  availableInSeconds: optionalInt32,
  description: optionalText,
  uploadDate: always(nullable(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }))),
  tags: Type.Array(Type.String()),
  chapters: arrayOf('Chapter', Chapter),
  thumbnails: arrayOf('Thumbnail', Thumbnail),
  audio: arrayOf('AudioVersion', AudioVersion),
  subtitles: arrayOf('SubtitleInformation', SubtitleInformation),
  segmentsKey: always(
    nullable(Type.String({ description: 'A key for SkipSegments; null where the instance can know none of the item' })),
  ),
  unavailable: arrayOf('UnavailableEntry', UnavailableEntry),
});

const PlaybackTrack = object({
  key: Type.String(),
  path: Type.String({ description: 'Relative to the origin of the instance, with length and ranges' }),
  label: Type.String(),
  description: text,
  contentType: Type.String({ description: 'With codecs where they are known, as canPlayType takes it' }),
  mimeType: Type.String(),
  codec: text,
  width: nullableInt32,
  height: nullableInt32,
  fps: nullableDouble,
  bitrate: nullable(Type.Number({ format: 'double', description: 'kbit/s' })),
  fileSizeBytes: nullable(Type.Integer({ format: 'int64' })),
});

const PlaybackSubtitle = object({
  key: Type.String(),
  path: Type.String({ description: 'Relative to the origin of the instance: WebVTT' }),
  language: Type.String(),
  name: Type.String(),
  automatic: Type.Boolean(),
});

/** An extension of the contract. */
const Playback = object({
  requestedUrl: Type.String(),
  title: Type.String(),
  author: Type.String(),
  coverUrl: text,
  durationSeconds: nullableDouble,
  video: arrayOf('PlaybackTrack', PlaybackTrack),
  audio: arrayOf('PlaybackTrack', PlaybackTrack),
  muxed: arrayOf('PlaybackTrack', PlaybackTrack),
  subtitles: arrayOf('PlaybackSubtitle', PlaybackSubtitle),
});

const SkipSegment = object({
  category: oneOf(SEGMENT_CATEGORIES),
  startSeconds: double,
  endSeconds: double,
});

/** An extension of the contract. */
const SkipSegments = object({ segments: arrayOf('SkipSegment', SkipSegment) });

/** The data of an event of ArchiveProgress. */
const ArchiveProgress = object({
  state: oneOf(['building', 'done', 'failed']),
  /** Entries that the archive is to have. */
  total: int32,
  /** Entries that are in it. */
  completed: int32,
  /** The title of the entry that is being sent; null: none, or it has no title. */
  current: text,
  /** Entries that are missing in it: its index has the reasons. */
  skipped: int32,
  missingEntries: Type.Optional(
    Type.Array(Type.String(), { description: 'Titles of the first 20 entries that are missing' }),
  ),
});

/** RFC 9457; the only object that allows additional properties. */
const ProblemDetails = Type.Object({
  type: always(neverNull(Type.String({ description: `The class of the problem: ${TYPE_REFERENCES.join(', ')}` }))),
  title: always(string),
  status: always(neverNull(int32)),
  detail: Type.Optional(string),
  instance: Type.Optional(string),
});

/** The endpoint badge format of shields.io, which allows these four keys only. */
const RequestCount = object({
  schemaVersion: int32,
  label: Type.String(),
  message: Type.String(),
  color: Type.String(),
});

/** The schemas by the names that references use. */
export const schemas = {
  AppInfo,
  ArchiveProgress,
  AudioVersion,
  Chapter,
  MediaDetails,
  MediaInformation,
  MediaRendition,
  MediaType,
  Playback,
  PlaybackSubtitle,
  PlaybackTrack,
  ProblemDetails,
  RequestCount,
  ResourceInformation,
  SkipSegment,
  SkipSegments,
  StreamReference,
  SubtitleInformation,
  Thumbnail,
  UnavailableEntry,
  UrlType,
} as const;

export type SchemaName = keyof typeof schemas;

/** The object of a schema, as the service sends it: `Schema<'AppInfo'>`. */
export type Schema<Name extends SchemaName> = Static<(typeof schemas)[Name]>;
