export { type Api, type ClipTimes, createApi, type StreamOptions, type ToolProgress } from './api.ts';
export type { MediaInformation, MediaRendition, ResourceInformation, StreamReference } from './contract.ts';
export { ApiFailure, type FailureFacts, type FailureKind } from './failure.ts';
export type { PlaylistCounts, ResolvedLink } from './playlist-counts.ts';
export { type Fetch, fetchResponse } from './responses.ts';
export { resolveWhenAvailable, untilStreamable, type Waiting, type WaitOptions } from './retry-wait.ts';
export {
  asFields,
  asList,
  asNumber,
  asRendition,
  asText,
  asWebUrl,
  MAX_RENDITIONS,
  UnexpectedShape,
} from './validate.ts';
