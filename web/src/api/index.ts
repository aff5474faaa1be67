export { type Api, type ClipTimes, createApi, type StreamOptions } from './api.ts';
export { acceptBaseUrl, type BaseUrl, forgetBaseUrl, readBaseUrl } from './base-url.ts';
export type { MediaInformation, MediaRendition, ResourceInformation, StreamReference } from './contract.ts';
export { ApiFailure, type FailureFacts, type FailureKind } from './failure.ts';
export type { PlaylistCounts, ResolvedLink } from './playlist-counts.ts';
export { createRangeSupport } from './range-support.ts';
export { connectionFailure, type Fetch, failureOf, fetchResponse, isOnline } from './responses.ts';
export {
  isRetryable,
  resolveWhenAvailable,
  type Sleep,
  sleep,
  untilStreamable,
  type Waiting,
  type WaitOptions,
  waitingOf,
} from './retry-wait.ts';
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
