import { SEGMENT_CATEGORIES } from '@reelay/seekable-media/skipping';
import Type, { type Static, type TSchema } from 'typebox';
import { TYPE_REFERENCES } from './problem-types.ts';

/** The API's objects: one schema each gives the type and the OpenAPI description (3.0: `nullable`, no type null). */
const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Allows JSON null as well. */
const nullable = <S extends TSchema>(schema: S) => Type.Unsafe<Static<S> | null>({ ...schema, nullable: true });

const text = nullable(Type.String());

const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] });

/** A reference by name, as the description writes it. */
const reference = <S extends TSchema>(name: string, _schema: S) =>
  Type.Unsafe<Static<S>>({ $ref: `#/components/schemas/${name}` });

const listOf = <S extends TSchema>(name: string, _schema: S) =>
  Type.Unsafe<Static<S>[]>({ type: 'array', items: { $ref: `#/components/schemas/${name}` }, nullable: true });

const arrayOf = <S extends TSchema>(name: string, _schema: S) =>
  Type.Unsafe<Static<S>[]>({ type: 'array', items: { $ref: `#/components/schemas/${name}` } });

const AppInfo = object({
  version: text,
  isHealthy: Type.Boolean(),
  environment: text,
  maintenance: Type.Optional(text),
});

const MediaType = oneOf(['Media', 'PlayList', 'Unknown']);
const UrlType = oneOf(['Combined', 'Media']);

const MediaRendition = object({
  key: text,
  label: text,
  description: Type.Optional(text),
  fileExtension: text,
  mimeType: text,
  urlType: Type.Optional(reference('UrlType', UrlType)),
  fileSizeBytes: Type.Optional(nullable(Type.Integer({ format: 'int64' }))),
  height: Type.Optional(nullable(Type.Integer({ format: 'int32' }))),
  bitrate: Type.Optional(nullable(Type.Number({ format: 'double' }))),
  convertTo: Type.Optional(text),
});

const StreamReference = object({
  bestQualityDescription: Type.Optional(text),
  bestQualityKey: Type.Optional(text),
  bestQualityFileExtension: Type.Optional(text),
  bestQualityMimeType: Type.Optional(text),
  mediumQualityDescription: Type.Optional(text),
  mediumQualityKey: Type.Optional(text),
  mediumQualityFileExtension: Type.Optional(text),
  mediumQualityMimeType: Type.Optional(text),
  worstQualityDescription: Type.Optional(text),
  worstQualityKey: Type.Optional(text),
  worstQualityFileExtension: Type.Optional(text),
  worstQualityMimeType: Type.Optional(text),
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
  title: Type.Optional(text),
  author: Type.Optional(text),
  coverUrl: Type.Optional(text),
  mediaItems: listOf('MediaInformation', MediaInformation),
});

const Chapter = object({
  title: text,
  startSeconds: Type.Number({ format: 'double' }),
  endSeconds: Type.Optional(nullable(Type.Number({ format: 'double' }))),
});

const Thumbnail = object({
  url: text,
  width: Type.Optional(nullable(Type.Integer({ format: 'int32' }))),
  height: Type.Optional(nullable(Type.Integer({ format: 'int32' }))),
});

const SubtitleInformation = object({
  key: text,
  language: text,
  name: Type.Optional(text),
  isAutomatic: Type.Boolean(),
});

/** An audio rendition, with what a client chooses it by. */
const AudioVersion = object({
  key: text,
  label: text,
  description: Type.Optional(text),
  fileExtension: text,
  mimeType: text,
  fileSizeBytes: Type.Optional(nullable(Type.Integer({ format: 'int64' }))),
  bitrate: Type.Optional(nullable(Type.Number({ format: 'double' }))),
  language: Type.Optional(text),
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
  durationSeconds: Type.Optional(nullable(Type.Number({ format: 'double' }))),
  isLive: Type.Boolean(),
  availableInSeconds: Type.Optional(nullable(Type.Integer({ format: 'int32' }))),
  description: Type.Optional(text),
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
  width: nullable(Type.Integer({ format: 'int32' })),
  height: nullable(Type.Integer({ format: 'int32' })),
  fps: nullable(Type.Number({ format: 'double' })),
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
  durationSeconds: nullable(Type.Number({ format: 'double' })),
  video: arrayOf('PlaybackTrack', PlaybackTrack),
  audio: arrayOf('PlaybackTrack', PlaybackTrack),
  muxed: arrayOf('PlaybackTrack', PlaybackTrack),
  subtitles: arrayOf('PlaybackSubtitle', PlaybackSubtitle),
});

const Segment = object({
  category: oneOf(SEGMENT_CATEGORIES),
  startSeconds: Type.Number({ format: 'double' }),
  endSeconds: Type.Number({ format: 'double' }),
});

/** An extension of the contract. */
const ItemSegments = object({ segments: arrayOf('Segment', Segment) });

/** The data of an event of ArchiveProgress. */
const ArchiveProgress = object({
  state: oneOf(['building', 'done', 'failed']),
  total: Type.Integer({ format: 'int32' }),
  completed: Type.Integer({ format: 'int32' }),
  current: text,
  skipped: Type.Integer({ format: 'int32' }),
});

/** RFC 9457; the only object that allows additional properties. */
const ProblemDetails = Type.Object({
  type: Type.Optional(
    nullable(Type.String({ description: `The class of the problem: ${TYPE_REFERENCES.join(', ')}` })),
  ),
  title: Type.Optional(text),
  status: Type.Optional(nullable(Type.Integer({ format: 'int32' }))),
  detail: Type.Optional(text),
  instance: Type.Optional(text),
});

/** The endpoint badge format of shields.io, which allows these four keys only. */
const RequestCount = object({
  schemaVersion: Type.Integer({ format: 'int32' }),
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
