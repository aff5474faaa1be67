export type {
  ArchiveProgress,
  AudioVersion,
  Chapter,
  MediaDetails,
  MediaInformation,
  MediaRendition,
  ResourceInformation,
  SkipSegment,
  StreamReference,
  SubtitleInformation,
  UnavailableEntry,
} from '../../../clients/reelay-client/src/index.ts';
export { type Api, type ClipTimes, createApi, type ResolvedLink, type StreamOptions } from './api.ts';
export { ApiFailure, type FailureFacts, type FailureKind, isOnline, type ToolProgress } from './failure.ts';
export { resolveWhenAvailable, untilStreamable, type Waiting, type WaitOptions } from './retry-wait.ts';
