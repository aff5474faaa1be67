export type { components, operations, ProblemName, paths } from './api-types.ts';
export {
  type AppInfo,
  type Client,
  type ClientOptions,
  createClient,
  type MediaDetails,
  type MediaInformation,
  type MediaRendition,
  type Playback,
  type PlaybackTrack,
  type ResolveOptions,
  type ResourceInformation,
  type Selection,
  type StreamParameters,
  type StreamReference,
} from './client.ts';
export { type FailureCode, type FailureFacts, failureOf, type LocalFailure, ReelayError, readText } from './failure.ts';
export { hasRenditions, type ResolvedList, type ResolveListOptions, resolveList } from './list.ts';
export { createRetries, type Retries, type RetryOptions, type Waiting, withRetries } from './retry.ts';
