export type {
  AppInfo,
  ArchiveProgress,
  AudioVersion,
  Chapter,
  MediaDetails,
  MediaInformation,
  MediaRendition,
  Playback,
  PlaybackTrack,
  ProblemName,
  ResourceInformation,
  Selection,
  SkipSegment,
  StreamParameters,
  StreamReference,
  SubtitleInformation,
  UnavailableEntry,
} from './api-types.ts';
export {
  type Client,
  type ClientOptions,
  createClient,
  type ResolvedList,
  type ResolveListOptions,
  type ResolveOptions,
  resolveList,
} from './client.ts';
export { type FailureCode, type FailureFacts, type LocalFailure, ReelayError } from './failure.ts';
export { membersOf, numberOf, type PlaylistCounts, playlistCountsOf } from './response-headers.ts';
export { type RetryOptions, type Waiting, withRetries } from './retry.ts';
