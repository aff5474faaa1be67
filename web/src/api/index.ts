export { type Api, type ClipTimes, createApi, type ResolvedLink, type StreamOptions } from './api.ts';
export type {
  ArchiveProgress,
  AudioVersion,
  Chapter,
  MediaDetails,
  MediaInformation,
  MediaRendition,
  ResourceInformation,
  Segment,
  StreamReference,
  SubtitleInformation,
} from './contract.ts';
export { ApiFailure, type FailureFacts, type FailureKind, isOnline, type ToolProgress } from './failure.ts';
export { resolveWhenAvailable, untilStreamable, type Waiting, type WaitOptions } from './retry-wait.ts';
