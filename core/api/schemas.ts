import { SEGMENT_CATEGORIES } from '@reelay/seekable-media/skipping';
import Type, { type Static, type TSchema } from 'typebox';
import { TYPE_REFERENCES } from './problem-types.ts';

/** The API's objects: one schema each gives the type and the OpenAPI description (3.0: `nullable`, no type null). */
const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Allows JSON null as well. */
const nullable = <S extends TSchema>(schema: S) => Type.Unsafe<Static<S> | null>({ ...schema, nullable: true });

const text = nullable(Type.String());
const optionalText = Type.Optional(text);
const int32 = Type.Integer({ format: 'int32' });
const nullableInt32 = nullable(int32);
const optionalInt32 = Type.Optional(nullableInt32);
const optionalInt64 = Type.Optional(nullable(Type.Integer({ format: 'int64' })));
const double = Type.Number({ format: 'double' });
const nullableDouble = nullable(double);
const optionalDouble = Type.Optional(nullableDouble);

const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** A reference by name, as the description writes it. */
const reference = <S extends TSchema>(name: string, _schema: S) =>
  Type.Unsafe<Static<S>>({ $ref: `#/components/schemas/${name}` });

const arrayOf = <S extends TSchema>(name: string, schema: S) => Type.Array(reference(name, schema));

/** By the contract it may be null, which it never is. */
const listOf = <S extends TSchema>(name: string, schema: S) =>
  Type.Unsafe<Static<S>[]>({ ...arrayOf(name, schema), nullable: true });

const AppInfo = object({
  version: text,
  isHealthy: Type.Boolean(),
  environment: text,
  maintenance: optionalText,
});

const MediaType = oneOf(['Media', 'PlayList', 'Unknown']);
const UrlType = oneOf(['Combined', 'Media']);

const MediaRendition = object({
  key: text,
  label: text,
  description: optionalText,
  fileExtension: text,
  mimeType: text,
  urlType: Type.Optional(reference('UrlType', UrlType)),
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
  renditions: Type.Optional(listOf('MediaRendition', MediaRendition)),
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
  mediaItems: listOf('MediaInformation', MediaInformation),
});

const Chapter = object({
  title: text,
  startSeconds: double,
  endSeconds: optionalDouble,
});

const Thumbnail = object({
  url: text,
  width: optionalInt32,
  height: optionalInt32,
});

const SubtitleInformation = object({
  key: text,
  language: text,
  name: optionalText,
  isAutomatic: Type.Boolean(),
});

/** An audio rendition, with what a client chooses it by. */
const AudioVersion = object({
  key: text,
  label: text,
  description: optionalText,
  fileExtension: text,
  mimeType: text,
  fileSizeBytes: optionalInt64,
  bitrate: optionalDouble,
  language: optionalText,
  isOriginal: Type.Boolean(),
  isDubbed: Type.Boolean(),
  isDescriptive: Type.Boolean(),
  isDrc: Type.Boolean(),
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
  uploadDate: Type.Optional(nullable(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }))),
  tags: Type.Array(Type.String()),
  chapters: arrayOf('Chapter', Chapter),
  thumbnails: arrayOf('Thumbnail', Thumbnail),
  audio: arrayOf('AudioVersion', AudioVersion),
  subtitles: arrayOf('SubtitleInformation', SubtitleInformation),
  segmentsKey: Type.Optional(
    nullable(Type.String({ description: 'A key for Segments; null where the instance can know none of the item' })),
  ),
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

const Segment = object({
  category: oneOf(SEGMENT_CATEGORIES),
  startSeconds: double,
  endSeconds: double,
});

/** An extension of the contract. */
const ItemSegments = object({ segments: arrayOf('Segment', Segment) });

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
  type: Type.Optional(
    nullable(Type.String({ description: `The class of the problem: ${TYPE_REFERENCES.join(', ')}` })),
  ),
  title: optionalText,
  status: optionalInt32,
  detail: optionalText,
  instance: optionalText,
});

/** The endpoint badge format of shields.io, which allows these four keys only. */
const RequestCount = object({
  schemaVersion: int32,
  label: Type.String(),
  message: Type.String(),
  color: Type.String(),
});

export type AppInfo = Static<typeof AppInfo>;
export type ArchiveProgress = Static<typeof ArchiveProgress>;
export type RequestCount = Static<typeof RequestCount>;
export type ResourceInformation = Static<typeof ResourceInformation>;
export type MediaInformation = Static<typeof MediaInformation>;
export type StreamReference = Static<typeof StreamReference>;
export type MediaRendition = Static<typeof MediaRendition>;
export type AudioVersion = Static<typeof AudioVersion>;
export type MediaDetails = Static<typeof MediaDetails>;
export type Playback = Static<typeof Playback>;
export type PlaybackTrack = Static<typeof PlaybackTrack>;
export type ItemSegments = Static<typeof ItemSegments>;

/** The schemas by the names that references use. */
export const schemas = {
  AppInfo,
  ArchiveProgress,
  AudioVersion,
  Chapter,
  ItemSegments,
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
  Segment,
  StreamReference,
  SubtitleInformation,
  Thumbnail,
  UrlType,
} as const;

export type SchemaName = keyof typeof schemas;
